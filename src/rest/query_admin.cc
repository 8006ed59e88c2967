// /admin/active_requests: statements that run, and their end. /admin/completed_requests: those that
// took long or failed. /admin/prepareds: those that have a name.
#include <string>
#include <utility>

#include "rest/access.h"
#include "rest/body.h"
#include "rest/query_routes.h"
#include "service/authorization.h"

namespace sluice::rest {
namespace {

using json::Value;
using service::QueryService;

void ListActive(const QueryService& service, const Request& request, Response& response) {
  Value list = Value::EmptyArray();
  for (const auto& active : service.active.List()) {
    if (service::MaySeeRequest(SenderOf(request), active->user))
      list.Append(active->Describe(service.clock.WallMs()));
  }
  response.Json(200, AnswerText(list));
}

void ListCompleted(const QueryService& service, const Request& request, Response& response) {
  Value list = Value::EmptyArray();
  for (const query::CompletedRequest& completed : service.completed.List()) {
    if (service::MaySeeRequest(SenderOf(request), completed.user))
      list.Append(completed.Describe());
  }
  response.Json(200, AnswerText(list));
}

void CancelActive(const QueryService& service, const Request& request, Response& response) {
  const std::string id(request.Param("id"));
  const auto active = service.active.Find(id);
  if (active == nullptr || !service::MaySeeRequest(SenderOf(request), active->user)) {
    return response.Error(
        Error(Code::kNotFound, "query.no_such_request", "no statement with the id '{}' runs", id));
  }
  active->cancelled->store(true);
  response.NoContent();
}

void ListPrepared(const QueryService& service, Response& response) {
  Value list = Value::EmptyArray();
  for (const auto& [name, plan] : service.engine.Named()) {
    list.Append(query::DescribePrepared(name, *plan));
  }
  response.Json(200, AnswerText(list));
}

void DeletePrepared(QueryService& service, const Request& request, Response& response) {
  const std::string name(request.Param("name"));
  if (service.engine.DeleteNamed(name)) return response.NoContent();
  response.Error(
      query::QueryError(query::QueryCode::kNoSuchPrepared, "nothing is prepared as '{}'", name));
}

Status AddPingRoute(Router& router) {
  return router.Add(
      {.method = Method::kGet,
       .path = "/admin/ping",
       .summary = "Whether the query service answers",
       .tag = "query",
       .description = "Client libraries of Couchbase ask for it.",
       .responses = {{200, "it does", Content{}}},
       .handler = [](Request&, Response& response) { response.Json(200, R"({"status":"OK"})"); }});
}

Status AddActiveRoutes(Router& router, QueryService& service) {
  RETURN_IF_ERROR(router.Add({.method = Method::kGet,
                              .path = "/admin/active_requests",
                              .summary = "List the running statements",
                              .tag = "query",
                              .description = "An admin sees all, others their own.",
                              .responses = {{200, "the statements", Content{}}},
                              .auth = std::string(kKnown),
                              .handler = [&service](Request& request, Response& response) {
                                ListActive(service, request, response);
                              }}));
  RETURN_IF_ERROR(router.Add({.method = Method::kGet,
                              .path = "/admin/completed_requests",
                              .summary = "List statements that took long or failed",
                              .tag = "query",
                              .description = "An admin sees all, others their own.",
                              .responses = {{200, "the last ones, oldest first", Content{}}},
                              .auth = std::string(kKnown),
                              .handler = [&service](Request& request, Response& response) {
                                ListCompleted(service, request, response);
                              }}));
  return router.Add({.method = Method::kDelete,
                     .path = "/admin/active_requests/{id}",
                     .summary = "Cancel a statement",
                     .tag = "query",
                     .responses = {{204, "it will end"}, {404, "not found"}},
                     .auth = std::string(kKnown),
                     .handler = [&service](Request& request, Response& response) {
                       CancelActive(service, request, response);
                     }});
}

}  // namespace

Status AddQueryAdminRoutes(Router& router, service::QueryService& service) {
  RETURN_IF_ERROR(AddPingRoute(router));
  RETURN_IF_ERROR(AddActiveRoutes(router, service));
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kGet,
       .path = "/admin/prepareds",
       .summary = "List the prepared statements",
       .tag = "query",
       .responses = {{200, "the statements", Content{}}},
       .auth = std::string(kAdmin),
       .handler = [&service](Request&, Response& response) { ListPrepared(service, response); }}));
  return router.Add({.method = Method::kDelete,
                     .path = "/admin/prepareds/{name}",
                     .summary = "Forget a prepared statement",
                     .tag = "query",
                     .responses = {{204, "forgotten"}, {404, "not found"}},
                     .auth = std::string(kAdmin),
                     .handler = [&service](Request& request, Response& response) {
                       DeletePrepared(service, request, response);
                     }});
}

}  // namespace sluice::rest
