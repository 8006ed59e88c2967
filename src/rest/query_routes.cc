// POST /query/service runs a statement; so does GET, as long as it only reads.
#include "rest/query_routes.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/random.h"
#include "rest/access.h"
#include "rest/http_types.h"
#include "rest/query_request.h"
#include "rest/service_answer.h"
#include "service/query_statement.h"

namespace sluice::rest {
namespace {

using service::QueryOutcome;
using service::QueryParameters;
using service::QueryService;
using service::QueryStatement;

// An answer to a request that did not become a statement.
void RefuseQuery(const QueryService& service, const Request& request,
                 const QueryParameters& parameters, const Status& why, Response& response) {
  QueryOutcome outcome;
  outcome.errors = {why};
  outcome.ended_early = true;
  outcome.elapsed_ns = service.clock.MonotonicNs() - request.arrival_ns();
  outcome.load = service.active.size();
  std::string text;
  ServiceAnswer(NewUuid(), parameters).Tail(outcome, &text);
  response.Json(QueryHttpStatus(why), std::move(text));
}

Task<> AnswerQuery(QueryService& service, Request& request, Response& response) {
  QueryParameters parameters;
  const Status read = ReadQueryParameters(request, &parameters);
  if (!read.ok()) co_return RefuseQuery(service, request, parameters, read, response);
  Result<std::shared_ptr<QueryStatement>> statement =
      QueryStatement::Admit(service, {SharedSenderOf(request), request.arrival_ns()}, parameters,
                            std::make_unique<ServiceAnswer>(NewUuid(), parameters));
  if (!statement) co_return RefuseQuery(service, request, parameters, statement.error(), response);
  bool started = false;
  while (true) {
    Result<QueryStatement::Chunk> chunk =
        co_await QueryStatement::Next(*statement, request.exchange());
    if (!chunk && started) co_return response.Abort();
    if (!chunk) co_return response.Error(chunk.error());
    if (chunk->last && !started) {
      co_return response.Json(QueryHttpStatus(chunk->refused), std::move(chunk->text));
    }
    if (!std::exchange(started, true)) response.set_content_type("application/json");
    const Status sent = co_await response.Write(chunk->text);
    if (!sent.ok()) co_return (*statement)->Cancel();
    if (chunk->last) co_return;
  }
}

json::Value TypeSchema(std::string_view type) {
  json::Value schema = json::Value::EmptyObject();
  if (!type.empty()) schema.Set("type", json::Value(type));
  if (type == "array") schema.Set("items", json::Value::EmptyObject());
  return schema;
}

// Besides these there are $name and @name, of any type.
json::Value RequestSchema() {
  json::Value properties = json::Value::EmptyObject();
  for (const auto& [name, type] : service::QueryParameterTypes())
    properties.Set(name, TypeSchema(type));
  return json::Value::Object(
      {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", true}});
}

std::vector<Parameter> UrlParameters() {
  std::vector<Parameter> parameters;
  for (const auto& [name, type] : service::QueryParameterTypes()) {
    const bool plain = type == "boolean" || type == "integer";
    parameters.push_back({.name = std::string(name), .type = plain ? std::string(type) : "string"});
  }
  return parameters;
}

Route ServiceRoute(QueryService& service, Method method) {
  return {.method = method,
          .path = "/query/service",
          .tag = "query",
          .responses = {{200, "results, streamed", Content{}},
                        {400, "the statement or a parameter can't be read"},
                        {401, "not allowed, or not authenticated"},
                        {503, "too many statements are running"}},
          .auth = std::string(kKnown),
          .handler = [&service](Request& request, Response& response) -> Task<> {
            return AnswerQuery(service, request, response);
          }};
}

}  // namespace

Status AddQueryRoutes(Router& router, service::QueryService& service) {
  Route post = ServiceRoute(service, Method::kPost);
  post.summary = "Run a SQL++ statement";
  post.description = "Parameters come as a form or as JSON; $name gives a named parameter's value.";
  post.request =
      Content{.description = "the statement and its parameters", .schema = RequestSchema()};
  RETURN_IF_ERROR(router.Add(std::move(post)));
  Route get = ServiceRoute(service, Method::kGet);
  get.summary = "Run a SQL++ statement that only reads";
  get.parameters = UrlParameters();
  RETURN_IF_ERROR(router.Add(std::move(get)));
  RETURN_IF_ERROR(AddQueryStreamRoute(router, service));
  return AddQueryAdminRoutes(router, service);
}

}  // namespace sluice::rest
