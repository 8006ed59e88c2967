// The texts of \? and \h.
#pragma once

#include <string>
#include <string_view>

namespace sluice::cli {

// The shell's own commands.
std::string_view SqlCommandHelp();
// The syntax of the statement that begins so, in any case; with nothing, the statements there are.
// Empty when there is no such statement.
std::string SqlSyntaxHelp(std::string_view statement);

}  // namespace sluice::cli
