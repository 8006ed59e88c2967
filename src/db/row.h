// Rows of tables: converts values into the stored form of a column, and back.
//
// A row is a document whose body has a field for each column, in the order of the schema; NULL is
// null. Stored forms, all plain JSON: numbers for integers, reals and decimals, strings for cstring
// and vutf8, lower-case hex for byte and blob, UTC text with three or six digits of fraction for
// datetimes, months or microseconds (integers) for intervals.
//
// Conversions are Comdb2's: a real becomes an integer without its fraction, text becomes a number
// or a time if it reads as one, a number becomes a time (seconds) or an interval (months, seconds).
#pragma once

#include <span>
#include <string>

#include "base/status.h"
#include "db/table_schema.h"
#include "json/value.h"

namespace sluice::db {

// The stored form of a value in a column. Errors: table.conversion, table.out_of_range,
// table.too_long, table.not_null.
Result<json::Value> StoreColumn(const TableSchema& schema, const TableColumn& column,
                                const json::Value& value);
// The typed value of a stored one; null for a missing one.
json::Value LoadColumn(ColumnType type, const json::Value& stored);
// Whether LoadColumn changes the stored value.
bool IsStoredAsIs(ColumnType type);

// The text of a row: one value, already in its stored form, for each column.
std::string RowText(const TableSchema& schema, std::span<const json::Value> stored);
// A row's key, from a stamp of Database::NewCas.
std::string RowKeyOf(Cas stamp);

}  // namespace sluice::db
