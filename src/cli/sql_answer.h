// How a statement ended, as the server tells it.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "cli/sql_splitter.h"
#include "json/value.h"

namespace sluice::cli {

struct SqlAnswer {
  json::Value signature;
  json::Value results = json::Value::EmptyArray();  // what came before an error, too
  json::Value metrics;
  std::vector<Status> errors;
  std::vector<std::string> warnings;
};

// Of the object "done" of a stream, without results. `file` (empty for none) and the statement's
// place in it are where errors point to; the wrong line is their excerpt.
SqlAnswer ReadSqlAnswer(const json::Value& done, const SqlStatement& statement,
                        const std::string& file);

// The line and a caret below that column (from 1, in characters); empty when there is no such
// place.
std::string Excerpt(std::string_view text, uint32_t line, uint32_t column);

}  // namespace sluice::cli
