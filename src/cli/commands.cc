#include "cli/commands.h"

namespace sluice::cli {

void AddClientCommands(Program* program) {
  AddApplyCommand(program);
  AddKvCommands(program);
  AddSqlCommand(program);
  AddConsumeCommand(program);
  AddKeyspaceCommands(program);
  AddIndexCommands(program);
  AddFnCommands(program);
  AddTriggerCommands(program);
  AddTypeCommands(program);
  AddFlowCommands(program);
  AddFeedCommand(program);
  AddImportCommand(program);
  AddExportCommand(program);
  AddAdminCommands(program);
  AddAccountCommands(program);
  AddCompletionCommand(program);
}

}  // namespace sluice::cli
