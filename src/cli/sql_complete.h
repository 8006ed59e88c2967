// What Tab offers in the shell, and the names it knows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace sluice::cli {

// Words that the last word before the cursor could become: the shell's commands at the beginning of
// a line, else keywords and functions (in the case of what is typed) and keyspaces. After \d, \h
// and \o only what fits. Each begins with what is typed; sorted.
std::vector<std::string> SqlCompletions(std::string_view before_cursor,
                                        const std::vector<std::string>& keyspaces,
                                        std::string_view context);

// Whether this can be a query context: empty, `bucket` or `bucket.scope`. cli.invalid_name.
Status CheckSqlContext(std::string_view text);

}  // namespace sluice::cli
