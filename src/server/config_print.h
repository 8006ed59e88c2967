// The configuration and its table of settings as text.
#pragma once

#include <string>

#include "server/config.h"

namespace sluice::server {

// A file that `LoadConfig` reads back to the same values; comments say where each came from.
std::string ConfigAsYaml(const LoadedConfig& loaded);
std::string ConfigAsJson(const LoadedConfig& loaded);

// docs/reference/config.md.
std::string ConfigAsMarkdown();

}  // namespace sluice::server
