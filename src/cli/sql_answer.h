// The server's report on the end of a statement.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "cli/sql_splitter.h"
#include "json/value.h"

namespace sluice::cli {

struct SqlAnswer {
  json::Value signature;
  json::Value results = json::Value::EmptyArray();  // also the rows before an error
  json::Value metrics;
  std::vector<Status> errors;
  std::vector<std::string> warnings;
};

// Reads the object "done" of a stream; the results are not in it. Errors get their place from
// `file` (empty for none) and the statement's place in it, and the wrong line as excerpt.
SqlAnswer ReadSqlAnswer(const json::Value& done, const SqlStatement& statement,
                        const std::string& file);

// The line and a caret below that column (from 1, in characters); empty when there is no such
// place.
std::string Excerpt(std::string_view text, uint32_t line, uint32_t column);

}  // namespace sluice::cli
