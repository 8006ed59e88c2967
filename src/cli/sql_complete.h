// The completions of the Tab key in the shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace sluice::cli {

// Words that the last word before the cursor could become: the shell's commands at the beginning of
// a line, else keywords and functions (in the case of the typed letters) and keyspaces. After \d,
// \h and \o only their arguments. Each begins with the typed letters; sorted.
std::vector<std::string> SqlCompletions(std::string_view before_cursor,
                                        const std::vector<std::string>& keyspaces,
                                        std::string_view context);

// Whether this can be a query context: empty, `bucket` or `bucket.scope`. cli.invalid_name.
Status CheckSqlContext(std::string_view text);

}  // namespace sluice::cli
