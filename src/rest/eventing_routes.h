// The routes of Eventing's REST interface, a file for each group of them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "function/manager.h"
#include "json/value.h"
#include "rest/eventing.h"
#include "rest/http_types.h"

namespace sluice::rest {

using Warnings = std::vector<std::string>;

class DebuggerGuests;

struct EventingCall {
  function::Manager& manager;
  const EventingListener& listener;
  DebuggerGuests& guests;
  Request& request;
  Response& response;

  // The location of the function that the path names, with the scope of ?bucket= and ?scope=.
  std::string location() const;
  void Answer(const json::Value& value);
  void Refuse(const Status& error);
  // {"code": 0, "info": ...}, or the error.
  void Done(const Status& status, std::string_view info);
  // The same, with warnings.
  void Done(const Result<Warnings>& done, std::string_view info);
};

struct EventingRoute {
  Method method;
  const char* path;
  const char* summary;
  void (*handle)(EventingCall&);
  std::string_view auth;
};

std::span<const EventingRoute> DefinitionRoutes();  // eventing_definitions.cc
std::span<const EventingRoute> StateRoutes();       // eventing_states.cc
std::span<const EventingRoute> TimerRoutes();       // eventing_timers.cc
std::span<const EventingRoute> FailureRoutes();     // eventing_failures.cc
std::span<const EventingRoute> DebuggerRoutes();    // eventing_debugger.cc
std::span<const EventingRoute> TransferRoutes();    // eventing_transfer.cc: export, import, backup
std::span<const EventingRoute> ServerRoutes();      // eventing_server.cc: config, error codes
std::span<const EventingRoute> NodeRoutes();        // eventing_node.cc

// The WebSocket of debuggers, on the same path for all.
Route DebuggerSocket(const EventingListener& listener, std::shared_ptr<DebuggerGuests> guests);

// --- what several of them need ---

// auth.forbidden unless the sender may manage functions on the bucket of its source, and of its
// scope if it has one.
Status MayManage(const Request& request, const function::Definition& definition);
// The definition of `location`, if the sender may manage it; else there is none.
Result<function::Definition> FindManaged(const EventingCall& call, const std::string& location);
// The same of the function that a query parameter names, as ?name= or ?appName=.
Result<function::Definition> FindNamed(const EventingCall& call, std::string_view parameter);
// All that the sender may manage; others are not told of.
std::vector<function::Definition> ListManaged(const EventingCall& call);
// Whether the sender may manage it and has the rights on what it binds.
Status MayStore(const EventingCall& call, const function::Definition& definition);
// Stores a definition for the sender, who must have the rights on what it binds, and brings the
// function to the state that its settings ask for. What it warns of does not keep it from running.
Result<Warnings> StoreFor(const EventingCall& call, function::Definition definition);

// The answer for several functions: a list of what became of each, 207 when some failed.
class EventingResults {
 public:
  void Add(std::string_view function, const Result<Warnings>& done, std::string_view info);
  void AnswerTo(EventingCall& call) const;

 private:
  json::Value list_ = json::Value::EmptyArray();
  size_t failed_ = 0;
  Status first_error_;
};

}  // namespace sluice::rest
