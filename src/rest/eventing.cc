#include "rest/eventing.h"

#include <algorithm>
#include <utility>

#include "rest/access.h"
#include "rest/body.h"
#include "rest/debugger_guests.h"
#include "rest/eventing_error.h"
#include "rest/eventing_routes.h"
#include "rest/http_types.h"

namespace sluice::rest {

using function::BucketBinding;
using function::Definition;
using function::State;
using json::Value;

namespace {

// couchbase-cli sends ?bucket=&scope= for a function that has none.
std::string LocationIn(const Request& request, const std::string& name) {
  return Definition::LocationOf(function::AnyIfEmpty(request.Query("bucket").value_or("")),
                                function::AnyIfEmpty(request.Query("scope").value_or("")), name);
}

}  // namespace

std::string EventingCall::location() const {
  return LocationIn(request, std::string(request.Param("name")));
}

void EventingCall::Answer(const Value& value) {
  response.AddHeader("status", "0");
  response.Json(200, AnswerText(value));
}

void EventingCall::Refuse(const Status& error) { AnswerEventingError(response, error); }

void EventingCall::Done(const Status& status, std::string_view info) {
  if (!status.ok()) return Refuse(status);
  AnswerEventingSuccess(response, info);
}

void EventingCall::Done(const Result<Warnings>& done, std::string_view info) {
  if (!done) return Refuse(done.error());
  AnswerEventingSuccess(response, info, *done);
}

Status MayManage(const Request& request, const Definition& definition) {
  RETURN_IF_ERROR(Require(request, auth::Permission::kManageFunctions, definition.source.bucket));
  if (definition.scope_bucket == "*") return OkStatus();
  return Require(request, auth::Permission::kManageFunctions, definition.scope_bucket);
}

Result<Definition> FindManaged(const EventingCall& call, const std::string& location) {
  Result<Definition> definition = call.manager.Find(location);
  // That somebody else has such a function is not told.
  if (definition && !MayManage(call.request, *definition).ok()) {
    return Unexpected(function::Manager::NotFound(location));
  }
  return definition;
}

Result<Definition> FindNamed(const EventingCall& call, std::string_view parameter) {
  ASSIGN_OR_RETURN(const std::string name, call.request.QueryRequired(parameter));
  return FindManaged(call, LocationIn(call.request, name));
}

std::vector<Definition> ListManaged(const EventingCall& call) {
  std::vector<Definition> list = call.manager.List();
  std::erase_if(list, [&](const Definition& definition) {
    return !MayManage(call.request, definition).ok();
  });
  return list;
}

Status MayStore(const EventingCall& call, const Definition& definition) {
  const Request& request = call.request;
  RETURN_IF_ERROR(MayManage(request, definition));
  for (const BucketBinding& binding : definition.buckets) {
    const auto permission = binding.writable ? auth::Permission::kWrite : auth::Permission::kRead;
    RETURN_IF_ERROR(Require(request, permission, binding.keyspace.bucket));
  }
  RETURN_IF_ERROR(Require(request, auth::Permission::kRead, definition.metadata.bucket));
  // Somebody else's function of the same name may have a source of its own.
  const Result<Definition> old = call.manager.Find(definition.Location());
  if (!old || MayManage(request, *old).ok()) return OkStatus();
  return Error(Code::kForbidden, "auth.forbidden",
               "the name '{}' is taken by a function that user '{}' may not manage: choose another",
               definition.Location(), SenderOf(request).user);
}

Result<Warnings> StoreFor(const EventingCall& call, Definition definition) {
  RETURN_IF_ERROR(MayStore(call, definition));
  ASSIGN_OR_RETURN(Warnings warnings, call.manager.CheckStored(definition));
  definition.confined =
      !SenderOf(call.request).Allows(auth::Permission::kAdmin, auth::kEveryBucket);
  const std::string location = definition.Location();
  const bool runs = definition.settings.deployed && definition.settings.processing;
  RETURN_IF_ERROR(call.manager.Store(std::move(definition)));
  if (runs) RETURN_IF_ERROR(call.manager.SetState(location, State::kDeployed));
  return warnings;
}

void EventingResults::Add(std::string_view function, const Result<Warnings>& done,
                          std::string_view info) {
  if (done) return list_.Append(EventingSuccessView(info, *done));
  if (failed_++ == 0) first_error_ = done.error();
  Value view = EventingErrorView(done.error());
  view.Set("info", RepairedText(done.error().message()));
  view.Set("function", RepairedText(std::string(function)));
  list_.Append(std::move(view));
}

void EventingResults::AnswerTo(EventingCall& call) const {
  if (failed_ == 0) return call.Answer(list_);
  if (list_.size() == 1) return call.Refuse(first_error_);
  call.response.AddHeader("status", "55");  // some of them failed
  call.response.Json(207, AnswerText(list_));
}

namespace {

// Of a function that belongs to a scope; see EventingCall::location.
std::vector<Parameter> ScopeParameters(const EventingRoute& route) {
  if (std::string_view(route.path).find("{name}") == std::string_view::npos) return {};
  return {{.name = "bucket", .description = "the bucket of the function's scope, if it has one"},
          {.name = "scope", .description = "the scope that the function belongs to"}};
}

// What a body holds differs; many calls have none.
std::optional<Content> BodyOf(const EventingRoute& route) {
  if (route.method != Method::kPost && route.method != Method::kPut) return std::nullopt;
  return Content{};
}

}  // namespace

Status AddEventingRoutes(Router& router, function::Manager& manager,
                         const EventingListener& listener) {
  router.SetErrorAnswer(listener.prefix, AnswerEventingError);
  const auto guests = std::make_shared<DebuggerGuests>();
  RETURN_IF_ERROR(router.Add(DebuggerSocket(listener, guests)));
  for (const auto& routes : {DefinitionRoutes(), StateRoutes(), TimerRoutes(), FailureRoutes(),
                             DebuggerRoutes(), TransferRoutes(), ServerRoutes(), NodeRoutes()}) {
    for (const EventingRoute& route : routes) {
      RETURN_IF_ERROR(
          router.Add({.method = route.method,
                      .path = listener.prefix + route.path,
                      .summary = route.summary,
                      .tag = "functions",
                      .parameters = ScopeParameters(route),
                      .request = BodyOf(route),
                      .responses = {{200, "success, or the requested data", Content{}}},
                      .auth = std::string(route.auth),
                      .handler = Blocking([&manager, listener, guests, handle = route.handle](
                                              Request& request, Response& response) {
                        EventingCall call{manager, listener, *guests, request, response};
                        handle(call);
                      })}));
    }
  }
  return OkStatus();
}

}  // namespace sluice::rest
