// config print|validate|docs.
#include <memory>

#include "server/commands.h"
#include "server/config_flags.h"
#include "server/config_print.h"

namespace sluice::server {

void AddConfigCommands(cli::Program* program) {
  CLI::App* group = program->AddGroup("config", "The server's configuration");

  const auto flags = std::make_shared<std::shared_ptr<ConfigFlags>>();
  CLI::App* print = program->AddCommand(
      group, "print", "Print the settings in force, as YAML, and where each comes from",
      [flags](cli::Context& context) {
        const ConfigResult result = LoadWithFlags(**flags, {});
        if (!result.problems.empty()) return context.ShowAllButLast(result.problems);
        context.output.Raw(context.output.json() ? ConfigAsJson(result.loaded)
                                                 : ConfigAsYaml(result.loaded));
        return OkStatus();
      });
  *flags = AddConfigFlags(print);

  const auto file = std::make_shared<std::string>();
  program
      ->AddCommand(group, "validate", "Check a configuration file",
                   [file](cli::Context& context) {
                     const ConfigResult result = LoadConfig({.file = *file});
                     if (result.problems.empty()) context.output.Note(*file + " is valid");
                     return context.ShowAllButLast(result.problems);
                   })
      ->add_option("file", *file, "YAML file")
      ->required();

  program->AddCommand(group, "docs", "Print the reference of all settings, as Markdown",
                      [](cli::Context& context) {
                        context.output.Raw(ConfigAsMarkdown());
                        return OkStatus();
                      });
}

}  // namespace sluice::server
