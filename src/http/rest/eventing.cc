#include "http/rest/eventing.h"

#include <utility>

#include "http/rest/access.h"
#include "http/rest/body.h"
#include "http/rest/eventing_error.h"
#include "http/worker_pool.h"
#include "json/parse.h"

namespace sluice::http::rest {
namespace {

using function::Definition;
using function::Manager;
using json::Value;

std::string NameOf(const Request& request) { return std::string(request.Param("name")); }

void Answer(Response& response, const Value& value) {
  response.AddHeader("status", "0");
  response.Json(200, AnswerText(value));
}

// A definition, or a list with one, as clients send both.
Result<Value> OneDefinition(std::string_view body) {
  ASSIGN_OR_RETURN(Value value, json::Parse(body));
  if (value.is_array() && value.size() == 1) return Value(value[0]);
  return value;
}

Status StoreOne(Manager& manager, const Value& value) {
  ASSIGN_OR_RETURN(Definition definition, function::ParseDefinition(value));
  const bool deploy = definition.settings.deployed && definition.settings.processing;
  const std::string name = definition.Location();
  RETURN_IF_ERROR(manager.Store(std::move(definition)));
  return deploy ? manager.Deploy(name) : OkStatus();
}

void ListFunctions(Manager& manager, Request&, Response& response) {
  Value list = Value::EmptyArray();
  for (const Definition& definition : manager.List())
    list.Append(PrintDefinition(definition, function::Secrets::kMasked));
  Answer(response, list);
}

void StoreFunctions(Manager& manager, Request& request, Response& response) {
  const Result<Value> body = json::Parse(request.body());
  if (!body) return AnswerEventingError(response, body.error());
  const std::vector<Value> all =
      body->is_array() ? std::vector<Value>(body->items().begin(), body->items().end())
                       : std::vector<Value>{*body};
  for (const Value& one : all) {
    if (const Status stored = StoreOne(manager, one); !stored.ok()) {
      return AnswerEventingError(response, stored);
    }
  }
  AnswerEventingSuccess(response, "Successfully stored");
}

void ShowFunction(Manager& manager, Request& request, Response& response) {
  const Result<Definition> definition = manager.Find(NameOf(request));
  if (!definition) return AnswerEventingError(response, definition.error());
  Answer(response, PrintDefinition(*definition, function::Secrets::kMasked));
}

void StoreFunction(Manager& manager, Request& request, Response& response) {
  const Result<Value> body = OneDefinition(request.body());
  const Status stored = body ? StoreOne(manager, *body) : body.error();
  if (!stored.ok()) return AnswerEventingError(response, stored);
  AnswerEventingSuccess(response, "Successfully stored");
}

void ShowCode(Manager& manager, Request& request, Response& response) {
  const Result<Definition> definition = manager.Find(NameOf(request));
  if (!definition) return AnswerEventingError(response, definition.error());
  response.AddHeader("status", "0");
  response.Body(200, "application/javascript", definition->code);
}

void StoreCode(Manager& manager, Request& request, Response& response) {
  Result<Definition> definition = manager.Find(NameOf(request));
  if (!definition) return AnswerEventingError(response, definition.error());
  definition->code = request.body();
  const Status stored = manager.Store(std::move(*definition));
  if (!stored.ok()) return AnswerEventingError(response, stored);
  AnswerEventingSuccess(response, "Successfully stored");
}

Value StatusView(const function::FunctionStatus& status) {
  const bool deployed = status.state != function::State::kUndeployed;
  const bool runs = status.state == function::State::kDeployed;
  return Value::Object({{"composite_status", function::StateName(status.state)},
                        {"name", status.definition->name},
                        {"num_bootstrapping_nodes", 0},
                        {"num_deployed_nodes", deployed ? 1 : 0},
                        {"deployment_status", deployed},
                        {"processing_status", runs},
                        {"redeploy_required", false},
                        {"caught_up", status.caught_up},
                        {"failure", status.failure}});
}

void ShowStatuses(Manager& manager, Request&, Response& response) {
  Value list = Value::EmptyArray();
  for (const auto& status : manager.Statuses()) list.Append(StatusView(status));
  Answer(response, Value::Object({{"apps", list}, {"num_eventing_nodes", 1}}));
}

void ShowStatus(Manager& manager, Request& request, Response& response) {
  const auto status = manager.StatusOf(NameOf(request));
  if (!status) return AnswerEventingError(response, status.error());
  Answer(response, Value::Object({{"app", StatusView(*status)}, {"num_eventing_nodes", 1}}));
}

void ShowAllStatistics(Manager& manager, Request&, Response& response) {
  Value list = Value::EmptyArray();
  for (const auto& status : manager.Statuses()) {
    if (const auto statistics = manager.StatisticsOf(status.definition->Location()))
      list.Append(*statistics);
  }
  Answer(response, list);
}

void ShowStatistics(Manager& manager, Request& request, Response& response) {
  const Result<Value> statistics = manager.StatisticsOf(NameOf(request));
  if (!statistics) return AnswerEventingError(response, statistics.error());
  Answer(response, *statistics);
}

// Newest first, as clients expect it.
void ShowLog(Manager& manager, Request& request, Response& response) {
  const auto name = request.Query("name");
  const auto lines = manager.Log(std::string(name.value_or("")));
  if (!lines) return AnswerEventingError(response, lines.error());
  std::string text;
  for (auto line = lines->rbegin(); line != lines->rend(); ++line) text += *line + "\n";
  response.AddHeader("status", "0");
  response.Text(200, std::move(text));
}

using Change = Status (Manager::*)(const std::string&);

template <Change kChange>
void ChangeState(Manager& manager, Request& request, Response& response) {
  const Status changed = (manager.*kChange)(NameOf(request));
  if (!changed.ok()) return AnswerEventingError(response, changed);
  AnswerEventingSuccess(response, "");
}

struct EventingRoute {
  Method method;
  const char* path;
  const char* summary;
  void (*handle)(Manager&, Request&, Response&);
};

constexpr EventingRoute kRoutes[] = {
    {Method::kGet, "/api/v1/functions", "List functions", ListFunctions},
    {Method::kPost, "/api/v1/functions", "Create or replace functions", StoreFunctions},
    {Method::kGet, "/api/v1/functions/{name}", "A function's definition", ShowFunction},
    {Method::kPost, "/api/v1/functions/{name}", "Create or replace a function", StoreFunction},
    {Method::kDelete, "/api/v1/functions/{name}", "Delete an undeployed function",
     ChangeState<&Manager::Remove>},
    {Method::kGet, "/api/v1/functions/{name}/appcode", "A function's code", ShowCode},
    {Method::kPost, "/api/v1/functions/{name}/appcode", "Replace a function's code", StoreCode},
    {Method::kPost, "/api/v1/functions/{name}/deploy", "Deploy", ChangeState<&Manager::Deploy>},
    {Method::kPost, "/api/v1/functions/{name}/undeploy", "Undeploy",
     ChangeState<&Manager::Undeploy>},
    {Method::kPost, "/api/v1/functions/{name}/pause", "Pause", ChangeState<&Manager::Pause>},
    {Method::kPost, "/api/v1/functions/{name}/resume", "Resume", ChangeState<&Manager::Resume>},
    {Method::kGet, "/api/v1/status", "States of all functions", ShowStatuses},
    {Method::kGet, "/api/v1/status/{name}", "A function's state", ShowStatus},
    {Method::kGet, "/api/v1/stats", "Statistics of all functions", ShowAllStatistics},
    {Method::kGet, "/api/v1/stats/{name}", "A function's statistics", ShowStatistics},
    {Method::kGet, "/getAppLog", "What a function has logged", ShowLog},
};

}  // namespace

Status AddEventingRoutes(Router& router, Manager& manager, const std::string& prefix) {
  for (const EventingRoute& route : kRoutes) {
    RETURN_IF_ERROR(router.Add({.method = route.method,
                                .path = prefix + route.path,
                                .summary = route.summary,
                                .tag = "functions",
                                .responses = {{200, "done, or what was asked for", Content{}}},
                                .auth = std::string(kAdmin),
                                .handler = Blocking([&manager, handle = route.handle](
                                                        Request& request, Response& response) {
                                  handle(manager, request, response);
                                })}));
  }
  return OkStatus();
}

}  // namespace sluice::http::rest
