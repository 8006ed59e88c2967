// comdb2_tables, comdb2_columns and kin: what tables there are, as rows.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "db/catalog.h"
#include "json/value.h"

namespace sluice::query {

// The rows of a system table that the catalog alone can tell, by its name in any case of letters;
// nothing when it is another one.
std::optional<std::vector<json::Value>> SystemTableRows(const db::Catalog& catalog,
                                                        std::string_view name);

}  // namespace sluice::query
