// /v1/buckets: buckets and what they hold.
#include <utility>

#include "base/quantity.h"
#include "db/catalog.h"
#include "rest/access.h"
#include "rest/body.h"
#include "rest/catalog_view.h"
#include "rest/http_types.h"
#include "rest/routes.h"

namespace sluice::rest {
namespace {

Result<bool> Counts(const Request& request) { return request.QueryBool("counts", false); }

// Buckets that the sender may read.
Result<json::Value> ListBuckets(const Context& context, const Request& request) {
  ASSIGN_OR_RETURN(const bool counts, Counts(request));
  const auto catalog = context.database.catalog();
  json::Value list = json::Value::EmptyArray();
  for (const auto& [name, bucket] : catalog->buckets()) {
    if (name == db::kTablesBucket) continue;  // it is not one of the user's
    if (!Require(request, auth::Permission::kRead, name).ok()) continue;
    ASSIGN_OR_RETURN(json::Value view, BucketView(context, *catalog, name, counts));
    list.Append(std::move(view));
  }
  return json::Value::Object({{"buckets", std::move(list)}});
}

Result<json::Value> ShowBucket(const Context& context, const Request& request) {
  ASSIGN_OR_RETURN(const bool counts, Counts(request));
  return BucketView(context, *context.database.catalog(), request.Param("bucket"), counts);
}

void AnswerBucket(Response& response, int status, const Result<json::Value>& value) {
  if (!value) return response.Error(value.error());
  response.Json(status, AnswerText(*value));
}

void PutBucket(Context& context, const Request& request, Response& response) {
  const Result<json::Value> body = ReadObject(request.body(), {});
  if (!body) return response.Error(body.error());
  const std::string name(request.Param("bucket"));
  const Status created = context.database.admin().CreateBucket(name);
  if (!created.ok() && created.id() != "bucket.exists") return response.Error(created);
  AnswerBucket(response, created.ok() ? 201 : 200,
               BucketView(context, *context.database.catalog(), name, false));
}

void DropBucket(Context& context, const Request& request, Response& response) {
  const Status dropped = context.database.admin().DropBucket(std::string(request.Param("bucket")));
  if (!dropped.ok()) return response.Error(dropped);
  response.NoContent();
}

Parameter BucketCountsParameter() {
  return {.name = "counts",
          .description = "count the documents of each collection, which reads them all",
          .type = "boolean"};
}

}  // namespace

Status AddBucketRoutes(Router& router, Context& context) {
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kGet,
       .path = "/v1/buckets",
       .summary = "List the buckets",
       .tag = "buckets",
       .description = "Those that the sender may read, with their scopes and collections.",
       .parameters = {BucketCountsParameter()},
       .responses = {{200, "the buckets", Content{}}},
       .auth = std::string(kKnown),
       .handler = Blocking([&context](Request& request, Response& response) {
         AnswerBucket(response, 200, ListBuckets(context, request));
       })}));
  RETURN_IF_ERROR(router.Add({.method = Method::kGet,
                              .path = "/v1/buckets/{bucket}",
                              .summary = "Show a bucket",
                              .tag = "buckets",
                              .parameters = {BucketCountsParameter()},
                              .responses = {{200, "the bucket", Content{}}, {404, "not found"}},
                              .auth = std::string(kReadBucket),
                              .handler = Blocking([&context](Request& request, Response& response) {
                                AnswerBucket(response, 200, ShowBucket(context, request));
                              })}));
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kPut,
       .path = "/v1/buckets/{bucket}",
       .summary = "Create a bucket",
       .tag = "buckets",
       .description = "With its scope and collection _default. Does nothing if the bucket exists.",
       .responses = {{201, "created", Content{}}, {200, "it existed already", Content{}}},
       .auth = std::string(kAdmin),
       .handler = Blocking([&context](Request& request, Response& response) {
         PutBucket(context, request, response);
       })}));
  return router.Add({.method = Method::kDelete,
                     .path = "/v1/buckets/{bucket}",
                     .summary = "Drop a bucket with all its documents",
                     .tag = "buckets",
                     .responses = {{204, "dropped"}, {404, "not found"}},
                     .auth = std::string(kAdmin),
                     .handler = Blocking([&context](Request& request, Response& response) {
                       DropBucket(context, request, response);
                     })});
}

}  // namespace sluice::rest
