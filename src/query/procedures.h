// Statements about Lua procedures: parsed here, run by a module above this one.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"
#include "query/bind/binder.h"
#include "query/definition_state.h"
#include "query/parse/ast.h"
#include "query/user_functions.h"

namespace sluice::query {

class QueryEngine;
class Run;
struct RunRequest;

// Any thread.
class Procedures {
 public:
  virtual ~Procedures() = default;
  // CREATE, DROP and PUT DEFAULT PROCEDURE, CREATE and DROP LUA FUNCTION: waits until it is
  // durable, returns the rows.
  virtual Result<std::vector<json::Value>> Define(const ProcedureStatement& statement) = 0;
  // EXEC PROCEDURE: the rows of the run are those that the procedure emits, as it emits them. Its
  // own statements run with the rights, the transaction and the limits of `request`.
  virtual Result<std::unique_ptr<Run>> Start(const std::string& name,
                                             std::vector<json::Value> arguments,
                                             const QueryContext& context, RunRequest request) = 0;
  // CREATE and DROP of triggers and consumers, likewise.
  virtual Result<std::vector<json::Value>> Define(const TriggerStatement& statement,
                                                  const QueryContext& context) = 0;
  // The differences between the trigger or consumer and a CREATE statement.
  virtual Result<DefinitionState> Compare(const TriggerStatement& statement,
                                          const QueryContext& context) const = 0;
  // The triggers and consumers that stand on a keyspace, by name.
  virtual std::vector<std::string> TriggersOn(db::KeyspaceId keyspace) const = 0;
  // A keyspace was dropped: it is taken out of them, and those end that have no other. Waits.
  virtual Status Forget(db::KeyspaceId keyspace) = 0;
  // The rows of comdb2_triggers and comdb2_queues.
  virtual std::vector<json::Value> ListTriggers() const = 0;
  virtual std::vector<json::Value> ListQueues() const = 0;
  virtual std::shared_ptr<const UserFunctionTable> Functions() const = 0;
  // For one run of a statement with this request: its rights, its transaction and its time.
  virtual std::unique_ptr<UserFunctionRunner> NewFunctionRunner(const QueryContext& context,
                                                                RunRequest request) = 0;
  // The rows of comdb2_procedures.
  virtual std::vector<json::Value> List() const = 0;
};

}  // namespace sluice::query
