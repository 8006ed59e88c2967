// The client's commands, one file for each group. Each function adds its commands to the program.
#pragma once

#include "cli/program.h"

namespace sluice::cli {

void AddClientCommands(Program* program);  // all of the below, in the order of the help text

void AddKvCommands(Program* program);                          // kv_commands.cc
void AddSqlCommand(Program* program);                          // sql_command.cc
void AddConsumeCommand(Program* program);                      // consume_command.cc
void AddKeyspaceCommands(Program* program);                    // keyspace_commands.cc
void AddIndexCommands(Program* program);                       // index_commands.cc
void AddFnCommands(Program* program);                          // fn_commands.cc
void AddTriggerCommands(Program* program);                     // trigger_commands.cc
void AddTypeCommands(Program* program);                        // type_commands.cc
void AddFlowCommands(Program* program);                        // flow_commands.cc
void AddFlowTraceCommands(Program* program, CLI::App* group);  // flow_trace_commands.cc
void AddFeedCommand(Program* program);                         // feed_command.cc
void AddImportCommand(Program* program);                       // import_command.cc
void AddExportCommand(Program* program);                       // export_command.cc
void AddApplyCommand(Program* program);                        // apply_command.cc
void AddAdminCommands(Program* program);                       // admin_commands.cc: backup, status
void AddAccountCommands(Program* program);                     // account_commands.cc: user, token
void AddCompletionCommand(Program* program);                   // completion.cc

// fn_failures.cc: fn failures, below the group of AddFnCommands.
void AddFnFailuresCommand(Program* program, CLI::App* group);
// fn_insight.cc: fn insight, below the group of AddFnCommands.
void AddFnInsightCommand(Program* program, CLI::App* group);
// fn_transfer.cc: fn import and fn export, below the group of AddFnCommands.
void AddFnTransferCommands(Program* program, CLI::App* group);

// type_migrate_command.cc: types migrate, below the group of AddTypeCommands.
void AddTypeMigrateCommand(Program* program, CLI::App* group);
// type_advice_commands.cc: types test, lint, report and infer, below the group of AddTypeCommands.
void AddTypeAdviceCommands(Program* program, CLI::App* group);

}  // namespace sluice::cli
