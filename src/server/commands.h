// The commands that need the server's own modules and so are not part of `cli`.
#pragma once

#include "cli/program.h"

namespace sluice::server {

// Adds the commands below and those of the client.
void AddAllCommands(cli::Program* program);

void AddServeCommand(cli::Program* program);     // serve_command.cc
void AddFnTestCommand(cli::Program* program);    // fn_test_command.cc: fn test
void AddFlowLintCommand(cli::Program* program);  // flow_lint_command.cc: flow lint
void AddFlowTestCommand(cli::Program* program);  // flow_test_command.cc: flow test
void AddConfigCommands(cli::Program* program);   // config_commands.cc: config print|validate|docs
void AddLocalCommands(
    cli::Program* program);  // local_commands.cc: restore, verify, version, reference

}  // namespace sluice::server
