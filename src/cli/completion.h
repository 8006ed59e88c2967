// Makes completion scripts and the reference page from the tree of commands.
#pragma once

#include <string>

#include "cli/program.h"

namespace sluice::cli {

std::string BashCompletion(const CLI::App& root);
std::string ZshCompletion(const CLI::App& root);
std::string FishCompletion(const CLI::App& root);

// Options of this group have a reference page of their own.
inline constexpr std::string_view kSettingsGroup = "Settings";

// docs/reference/cli.md.
std::string CommandReference(const CLI::App& root);

}  // namespace sluice::cli
