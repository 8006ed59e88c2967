// Rows as Comdb2's cdb2sql prints them: (i=1, d=3.142857, c='hello', b=x'deadbeef',
// t="2019-12-19T131422.330 America/New_York", y="0-5", n=NULL).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "db/catalog.h"
#include "json/value.h"

namespace sluice::query {

// The types of result columns, by their names in rows: a column of doubles shows 2.000000 also when
// the value is a whole number.
using Cdb2Types = std::map<std::string, db::ColumnType, std::less<>>;

// For a SELECT from tables: the types of the result columns that are columns of the tables.
Cdb2Types Cdb2TypesOf(std::string_view statement, const db::Catalog& catalog);

// A row that is no object has one column without a name. `zone` is where datetimes are shown.
std::string Cdb2Row(const json::Value& row, std::string_view zone, const Cdb2Types& types = {});

}  // namespace sluice::query
