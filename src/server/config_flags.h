// The settings as flags of a command.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <CLI/App.hpp>

#include "server/config.h"

namespace sluice::server {

struct ConfigFlags {
  std::string file;                           // --config
  std::map<std::string, std::string> values;  // by setting name, those that were given
};

// Adds --config and one flag for each setting. The result has the given flags after parsing.
std::shared_ptr<ConfigFlags> AddConfigFlags(CLI::App* command);

// Loads from the flags, this process's environment and the file.
ConfigResult LoadWithFlags(const ConfigFlags& flags, std::map<std::string, std::string> defaults);

}  // namespace sluice::server
