#include "server/commands.h"

#include "cli/commands.h"

namespace sluice::server {

void AddAllCommands(cli::Program* program) {
  AddServeCommand(program);
  cli::AddClientCommands(program);
  AddFnTestCommand(program);
  AddFlowLintCommand(program);
  AddFlowTestCommand(program);
  AddConfigCommands(program);
  AddLocalCommands(program);
}

}  // namespace sluice::server
