// backup and status.
#include <memory>

#include "cli/api.h"
#include "cli/commands.h"
#include "json/print.h"

namespace sluice::cli {

void AddAdminCommands(Program* program) {
  const auto directory = std::make_shared<std::string>();
  program
      ->AddCommand(&program->app(), "backup", "Make the server write a backup of its data",
                   [directory](Context& context) -> Status {
                     ASSIGN_OR_RETURN(Api* const api, context.api());
                     const json::Value body = json::Value::Object({{"directory", *directory}});
                     ASSIGN_OR_RETURN(
                         const json::Value answer,
                         api->CallJson({.method = "POST",
                                        .path = "/v1/backup",
                                        .headers = {{"Content-Type", "application/json"}},
                                        .body = json::ToText(body)}));
                     context.output.Object(answer);
                     return OkStatus();
                   })
      ->add_option("directory", *directory,
                   "New directory on the server's machine; must be below the setting backup.root, "
                   "if that is set")
      ->required();

  program->AddCommand(
      &program->app(), "status", "Show the state of the server", [](Context& context) -> Status {
        ASSIGN_OR_RETURN(Api* const api, context.api());
        ASSIGN_OR_RETURN(const json::Value answer, api->CallJson({.path = "/v1/status"}));
        context.output.Object(answer);
        return OkStatus();
      });
}

}  // namespace sluice::cli
