// The common part of the commands for failures of functions and dead letters of triggers.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "json/value.h"

namespace sluice::cli {

// Prints the list at `path`, at most `limit` failures; `row` turns each into the values of the
// columns.
using FailureRow = std::function<json::Value(const json::Value& failure)>;
Status ListFailures(const std::string& path, size_t limit, const FailureRow& row,
                    const std::vector<Column>& columns, Context& context);

// Sends a request without a result, and prints a note on success.
Status Order(const std::string& method, const std::string& path, const std::string& done,
             Context& context);
// One for all of them: "7 failures dropped".
Status OrderAll(const std::string& method, const std::string& path, std::string_view done,
                Context& context);

// Options of which a user may give one.
void ExcludeEachOther(const std::vector<CLI::Option*>& options);
void AddLimitOption(CLI::App* command, size_t* limit);

// The text of a string, up to the end of its first line; empty for anything else.
std::string FirstLine(const json::Value& value);

}  // namespace sluice::cli
