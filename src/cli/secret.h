// Passwords from people: typed without echo, or from a file.
#pragma once

#include <string>

#include "base/status.h"
#include "cli/program.h"

namespace sluice::cli {

// The first line of a file.
Result<std::string> ReadSecret(const std::string& file);

// The first line of `file` ("-" for standard input); without a file, asks twice on the terminal.
// cli.usage when there is neither.
Result<std::string> ReadNewPassword(const std::string& file, Context& context);

}  // namespace sluice::cli
