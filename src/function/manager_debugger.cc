// Starts, stops and finds the debuggers of functions.
#include "function/debug_session.h"
#include "function/managed_function.h"

namespace sluice::function {

Status Manager::StartDebugger(const std::string& name) {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  ASSIGN_OR_RETURN(const auto change, function->BeginChange());
  if (!config().debugger) {
    return Error(Code::kForbidden, "function.debugger_disabled",
                 "debugging is off: set enable_debugger in the configuration of functions");
  }
  const std::shared_ptr<const Definition> definition = function->current();
  if (DebuggerOf(name)) {
    return Error(Code::kConflict, "function.debugger_started",
                 "function '{}' has a debugger already; stop it first", name);
  }
  const std::shared_ptr<Dispatcher> dispatcher = function->dispatcher();
  if (function->state() != State::kDeployed || dispatcher == nullptr)
    return WrongState("function.not_deployed", name, function->state(), "debugged");
  ASSIGN_OR_RETURN(const Prepared prepared, Prepare(*definition));
  auto session = std::make_shared<DebugSession>(*definition);
  dispatcher->StartDebugger(ProgramForDebugger(*definition, *prepared.source),
                            session->inspector());
  function->live.Lock()->debugger.swap(session);
  return OkStatus();
}

Status Manager::StopDebugger(const std::string& name) {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  ASSIGN_OR_RETURN(const auto change, function->BeginChange());
  std::shared_ptr<DebugSession> ended;  // after the lock is released
  function->live.Lock()->debugger.swap(ended);
  if (const auto dispatcher = function->dispatcher()) dispatcher->StopDebugger();
  return OkStatus();
}

Result<std::shared_ptr<DebugSession>> Manager::DebuggerOf(const std::string& name) const {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  std::shared_ptr<DebugSession> debugger = function->live.Lock()->debugger;
  if (debugger != nullptr && !debugger->over()) return debugger;
  return Fail(Code::kNotFound, "function.no_debugger", "function '{}' is not debugged", name);
}

}  // namespace sluice::function
