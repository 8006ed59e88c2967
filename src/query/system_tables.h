// comdb2_tables, comdb2_columns and similar tables: the catalog as rows.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/catalog.h"
#include "json/value.h"
#include "query/procedures.h"

namespace sluice::query {

// The rows of a system table, by its name in any case of letters; nothing when it is another one.
// `procedures` may be null.
std::optional<std::vector<json::Value>> SystemTableRows(const db::Catalog& catalog,
                                                        const Procedures* procedures,
                                                        std::string_view name);
// Their columns, in order; none when there is no such table.
std::vector<std::string> SystemTableColumns(std::string_view name);
// All of them, sorted.
std::vector<std::string_view> SystemTableNames();

}  // namespace sluice::query
