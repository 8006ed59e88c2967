#include "rest/advice.h"

#include <utility>

#include "db/catalog.h"
#include "doctype/advice/observed.h"
#include "rest/access.h"
#include "rest/body.h"
#include "rest/http_types.h"

namespace sluice::rest {
namespace {

using json::Value;

Result<std::shared_ptr<const db::KeyspaceInfo>> KeyspaceOf(const db::Database& database,
                                                           const Request& request) {
  ASSIGN_OR_RETURN(const db::KeyspaceName name, db::KeyspaceName::Parse(request.Param("keyspace")));
  return database.catalog()->Resolve(name);
}

Result<Value> AdviceOf(const service::AdviceSources& sources, const Request& request) {
  ASSIGN_OR_RETURN(const auto keyspace, KeyspaceOf(sources.database, request));
  service::AdviceOptions options;
  ASSIGN_OR_RETURN(options.full, request.QueryBool("full", false));
  ASSIGN_OR_RETURN(options.synchronised, request.QueryBool("mobile", false));
  ASSIGN_OR_RETURN(const int64_t sample, request.QueryInt("sample", 0, 1, INT64_MAX));
  options.sample = static_cast<uint64_t>(sample);
  return service::Advise(sources, *keyspace, options);
}

}  // namespace

Status AddAdviceRoutes(Router& router, const Context& context, service::CodeVisitor code) {
  const service::AdviceSources sources{context.database, context.started_ms, std::move(code)};
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kGet,
       .path = "/v1/advice/{keyspace}",
       .summary = "What documents cost and what may make trouble",
       .tag = "types",
       .description =
           "From a sample of documents and from their observed use since the server's start.",
       .parameters = {{.name = "sample",
                       .description = "how many documents are read; if not given, all of up to a "
                                      "million or 1 GB, else 10000",
                       .type = "integer"},
                      {.name = "full", .description = "read all of them", .type = "boolean"},
                      {.name = "mobile",
                       .description = "documents are synchronised with mobile devices",
                       .type = "boolean"}},
       .responses = {{200, "findings, and what to embed", Content{}},
                     {404, "there is no such keyspace"}},
       .auth = std::string(kAdmin),
       .handler = Blocking([sources](Request& request, Response& response) {
         const Result<Value> advice = AdviceOf(sources, request);
         if (!advice) return response.Error(advice.error());
         response.Json(200, AnswerText(*advice));
       })}));
  return router.Add(
      {.method = Method::kGet,
       .path = "/v1/advice/{keyspace}/observed",
       .summary = "What was seen of the use of documents since the server's start",
       .tag = "types",
       .responses = {{200, "statements by path, joins, updates, names in code", Content{}},
                     {404, "there is no such keyspace"}},
       .auth = std::string(kAdmin),
       .handler = Blocking([sources](Request& request, Response& response) {
         const auto keyspace = KeyspaceOf(sources.database, request);
         if (!keyspace) return response.Error(keyspace.error());
         response.Json(200, AnswerText(doctype::ToJson(service::Observe(sources, **keyspace))));
       })});
}

}  // namespace sluice::rest
