#include "rest/routes.h"

#include <utility>

#include "rest/body.h"

namespace sluice::rest {
namespace {

std::string IndexText(const Context& context) {
  return AnswerText(json::Value::Object({{"name", "sluice"},
                                         {"version", context.version},
                                         {"api", "/openapi.json"},
                                         {"buckets", "/v1/buckets"},
                                         {"documents", "/v1/docs/{keyspace}/{key}"},
                                         {"feed", "/v1/feed/{keyspace}"},
                                         {"query", "/query/service"},
                                         {"status", "/v1/status"},
                                         {"health", "/healthz"},
                                         {"metrics", "/metrics"}}));
}

}  // namespace

Status AddRestRoutes(Router& router, Context& context) {
  RETURN_IF_ERROR(router.Add({.method = Method::kGet,
                              .path = "/",
                              .summary = "The server's name and paths",
                              .tag = "operation",
                              .responses = {{200, "names and paths", Content{}}},
                              .handler = [text = IndexText(context)](Request&, Response& response) {
                                response.Json(200, text);
                              }}));
  RETURN_IF_ERROR(AddBucketRoutes(router, context));
  RETURN_IF_ERROR(AddCollectionRoutes(router, context));
  RETURN_IF_ERROR(AddIndexRoutes(router, context));
  RETURN_IF_ERROR(AddTypeRoutes(router, context));
  RETURN_IF_ERROR(AddDocumentRoutes(router, context));
  RETURN_IF_ERROR(AddHistoryRoutes(router, context));
  RETURN_IF_ERROR(AddMutationRoutes(router, context));
  RETURN_IF_ERROR(AddScanRoutes(router, context));
  RETURN_IF_ERROR(AddBatchRoutes(router, context));
  RETURN_IF_ERROR(AddImportRoutes(router, context));
  RETURN_IF_ERROR(AddFeedRoutes(router, context));
  RETURN_IF_ERROR(AddUserRoutes(router, context));
  RETURN_IF_ERROR(AddTokenRoutes(router, context));
  RETURN_IF_ERROR(AddOperationRoutes(router, context));
  RETURN_IF_ERROR(AddHealthRoutes(router, context));
  return OkStatus();
}

}  // namespace sluice::rest
