#include "server/config_flags.h"

#include <CLI/CLI.hpp>

#include "cli/completion.h"
#include "server/settings.h"

namespace sluice::server {

std::shared_ptr<ConfigFlags> AddConfigFlags(CLI::App* command) {
  auto flags = std::make_shared<ConfigFlags>();
  command->add_option("--config", flags->file, "YAML file with settings")->type_name("FILE");
  for (const Setting& setting : Settings()) {
    const std::string name(setting.name);
    command
        ->add_option_function<std::string>(
            setting.Flag(),
            [flags, name](const std::string& value) { flags->values[name] = value; },
            std::string(setting.help))
        ->default_str(std::string(setting.fallback))
        ->group(std::string(cli::kSettingsGroup));
  }
  return flags;
}

ConfigResult LoadWithFlags(const ConfigFlags& flags, std::map<std::string, std::string> defaults) {
  return LoadConfig({.defaults = std::move(defaults),
                     .file = flags.file,
                     .environment = ReadEnvironment(),
                     .flags = flags.values});
}

}  // namespace sluice::server
