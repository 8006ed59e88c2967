// POST /query/service runs a statement; so does GET, as long as it only reads.
#include "http/rest/query_service.h"

#include <memory>
#include <utility>

#include "base/random.h"
#include "http/completion.h"
#include "http/rest/access.h"
#include "http/rest/query_answer.h"
#include "http/rest/query_parameters.h"
#include "http/rest/query_statement.h"

namespace sluice::http::rest {
namespace {

using Chunk = QueryStatement::Chunk;

// An answer to a request that did not become a statement.
void Refuse(const QueryService& service, const Request& request, const QueryParameters& parameters,
            const Status& why, Response& response) {
  QueryOutcome outcome;
  outcome.errors = {why};
  outcome.ended_early = true;
  outcome.elapsed_ns = service.clock.MonotonicNs() - request.arrival_ns();
  outcome.load = service.active.size();
  std::string text;
  ServiceAnswer(NewUuid(), parameters).Tail(outcome, &text);
  response.Json(QueryHttpStatus(why), std::move(text));
}

// The pool takes as many jobs as there may be statements, and each has one.
Task<Result<Chunk>> NextChunk(QueryService& service, Request& request,
                              std::shared_ptr<QueryStatement> statement) {
  Completion<Chunk> done(request);
  const bool taken =
      service.workers.TrySubmit([statement, done] { done.Complete(statement->NextChunk({})); });
  if (!taken) co_return Unexpected(OverloadedError());
  Result<Chunk> chunk = co_await done;
  if (!chunk) statement->Cancel();
  co_return chunk;
}

Task<> Answer(QueryService& service, Request& request, Response& response) {
  QueryParameters parameters;
  const Status read = ReadQueryParameters(request, &parameters);
  if (!read.ok()) co_return Refuse(service, request, parameters, read, response);
  Result<std::shared_ptr<QueryStatement>> statement =
      QueryStatement::Admit(service, {request.principal(), request.arrival_ns()}, parameters,
                            std::make_unique<ServiceAnswer>(NewUuid(), parameters));
  if (!statement) co_return Refuse(service, request, parameters, statement.error(), response);
  bool started = false;
  while (true) {
    Result<Chunk> chunk = co_await NextChunk(service, request, *statement);
    if (!chunk && started) co_return response.Abort();
    if (!chunk) co_return response.Error(chunk.error());
    if (chunk->last && !started) {
      co_return response.Json(chunk->http_status, std::move(chunk->text));
    }
    if (!std::exchange(started, true)) response.set_content_type("application/json");
    const Status sent = co_await response.Write(chunk->text);
    if (!sent.ok()) co_return (*statement)->Cancel();
    if (chunk->last) co_return;
  }
}

constexpr std::string_view kRequestSchema =
    R"({"type":"object","properties":{"statement":{"type":"string"},"prepared":{"type":"string"},)"
    R"("args":{"type":"array"},"timeout":{"type":"string"},"readonly":{"type":"boolean"},)"
    R"("scan_consistency":{"type":"string"},"query_context":{"type":"string"},)"
    R"("pretty":{"type":"boolean"},"client_context_id":{"type":"string"},)"
    R"("profile":{"type":"string"},"max_parallelism":{"type":"integer"},)"
    R"("metrics":{"type":"boolean"},"signature":{"type":"boolean"},"txid":{"type":"string"},)"
    R"("txtimeout":{"type":"string"},"preserve_expiry":{"type":"boolean"},)"
    R"("row_format":{"type":"string"},"timezone":{"type":"string"}}})";

Route ServiceRoute(QueryService& service, Method method) {
  return {.method = method,
          .path = "/query/service",
          .tag = "query",
          .responses = {{200, "results, streamed", Content{}},
                        {400, "the statement or a parameter can't be read"},
                        {401, "not allowed, or nobody is known"},
                        {503, "too many statements are running"}},
          .auth = std::string(kKnown),
          .handler = [&service](Request& request, Response& response) -> Task<> {
            return Answer(service, request, response);
          }};
}

}  // namespace

Status AddQueryRoutes(Router& router, QueryService& service) {
  Route post = ServiceRoute(service, Method::kPost);
  post.summary = "Run a SQL++ statement";
  post.description = "Parameters come as a form or as JSON; $name gives a named parameter's value.";
  post.request = Content{.description = "the statement and its parameters",
                         .schema = json::Value(kRequestSchema)};
  RETURN_IF_ERROR(router.Add(std::move(post)));
  Route get = ServiceRoute(service, Method::kGet);
  get.summary = "Run a SQL++ statement that only reads";
  get.parameters = {{.name = "statement", .description = "SQL++", .required = true}};
  RETURN_IF_ERROR(router.Add(std::move(get)));
  RETURN_IF_ERROR(AddQueryStreamRoute(router, service));
  return AddQueryAdminRoutes(router, service);
}

}  // namespace sluice::http::rest
