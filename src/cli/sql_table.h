// Query results as an aligned table.
#pragma once

#include <cstddef>
#include <string>

#include "json/value.h"

namespace sluice::cli {

struct SqlTableOptions {
  size_t max_cell_width = 0;  // longer cells are cut; 0 for no limit
};

// Lines, each with its end. Columns are the fields of the rows, in the order of `signature` and
// then as they come; the documents that `SELECT *` puts below their keyspace's name are laid out by
// their own fields. Rows that are not objects make one column, "value". A field that a row lacks is
// blank, NULL is null. Numbers are aligned at the right.
std::string SqlTable(const json::Value& rows, const json::Value& signature,
                     const SqlTableOptions& options = {});

}  // namespace sluice::cli
