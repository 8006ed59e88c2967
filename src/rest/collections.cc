// /v1/buckets/{bucket}/scopes/...: scopes and collections.
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

constexpr std::string_view kScopePath = "/v1/buckets/{bucket}/scopes/{scope}";
constexpr std::string_view kCollectionPath =
    "/v1/buckets/{bucket}/scopes/{scope}/collections/{collection}";

db::KeyspaceName CollectionNameOf(const Request& request) {
  return {std::string(request.Param("bucket")), std::string(request.Param("scope")),
          std::string(request.Param("collection"))};
}

void AnswerCollection(Response& response, int status, const Result<json::Value>& value) {
  if (!value) return response.Error(value.error());
  response.Json(status, AnswerText(*value));
}

void AnswerDone(Response& response, const Status& done) {
  if (!done.ok()) return response.Error(done);
  response.NoContent();
}

void ShowScope(const Context& context, const Request& request, Response& response, int status) {
  const Result<bool> counts = request.QueryBool("counts", false);
  if (!counts) return response.Error(counts.error());
  AnswerCollection(response, status,
                   ScopeView(context, *context.database.catalog(), request.Param("bucket"),
                             request.Param("scope"), *counts));
}

void PutScope(Context& context, const Request& request, Response& response) {
  const Result<json::Value> body = ReadObject(request.body(), {});
  if (!body) return response.Error(body.error());
  const Status created = context.database.admin().CreateScope(std::string(request.Param("bucket")),
                                                              std::string(request.Param("scope")));
  if (!created.ok() && created.id() != "scope.exists") return response.Error(created);
  ShowScope(context, request, response, created.ok() ? 201 : 200);
}

void ShowCollection(const Context& context, const Request& request, Response& response,
                    int status) {
  const Result<bool> counts = request.QueryBool("counts", false);
  if (!counts) return response.Error(counts.error());
  const auto keyspace = context.database.catalog()->Resolve(CollectionNameOf(request));
  if (!keyspace) return response.Error(keyspace.error());
  AnswerCollection(response, status, CollectionView(context, **keyspace, *counts));
}

Result<std::optional<uint64_t>> MaxExpiryOf(const Request& request) {
  ASSIGN_OR_RETURN(const json::Value body, ReadObject(request.body(), {"max_expiry"}));
  ASSIGN_OR_RETURN(const std::optional<std::string> text, StringField(body, "max_expiry"));
  if (!text) return std::nullopt;
  const Result<uint64_t> ms = ParseDurationMs(*text);
  if (!ms) return BadField("max_expiry", "a duration such as 30d", body["max_expiry"]);
  return *ms;
}

// Idempotent: a collection that is there with another max_expiry is a conflict.
void PutCollection(Context& context, const Request& request, Response& response) {
  const Result<std::optional<uint64_t>> wanted = MaxExpiryOf(request);
  if (!wanted) return response.Error(wanted.error());
  const uint64_t max_expiry_ms = wanted->value_or(0);
  const db::KeyspaceName name = CollectionNameOf(request);
  const Status created = context.database.admin().CreateCollection(name, max_expiry_ms);
  if (created.id() == "collection.exists") {
    const auto present = context.database.catalog()->Resolve(name);
    const bool same = present && (*present)->max_expiry_ms == max_expiry_ms;
    if (!same) return response.Error(created);
  } else if (!created.ok()) {
    return response.Error(created);
  }
  ShowCollection(context, request, response, created.ok() ? 201 : 200);
}

void PatchCollection(Context& context, const Request& request, Response& response) {
  const Result<std::optional<uint64_t>> max_expiry_ms = MaxExpiryOf(request);
  if (!max_expiry_ms) return response.Error(max_expiry_ms.error());
  if (*max_expiry_ms) {
    const Status changed =
        context.database.admin().SetMaxExpiry(CollectionNameOf(request), **max_expiry_ms);
    if (!changed.ok()) return response.Error(changed);
  }
  ShowCollection(context, request, response, 200);
}

Content CollectionSettings() {
  return {.description = "max_expiry: documents live at most this long; 0s for no limit",
          .schema = R"({"type":"object","properties":{"max_expiry":)"
                    R"({"type":"string","example":"30d"}}})"};
}

Parameter CollectionCountsParameter() {
  return {.name = "counts",
          .description = "count the documents of each collection, which reads them all",
          .type = "boolean"};
}

Status AddScopes(Router& router, Context& context) {
  RETURN_IF_ERROR(router.Add({.method = Method::kGet,
                              .path = std::string(kScopePath),
                              .summary = "Show a scope and its collections",
                              .tag = "buckets",
                              .parameters = {CollectionCountsParameter()},
                              .responses = {{200, "the scope", Content{}}, {404, "not found"}},
                              .auth = std::string(kReadBucket),
                              .handler = Blocking([&](Request& request, Response& response) {
                                ShowScope(context, request, response, 200);
                              })}));
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kPut,
       .path = std::string(kScopePath),
       .summary = "Create a scope",
       .tag = "buckets",
       .responses = {{201, "created", Content{}}, {200, "it existed already", Content{}}},
       .auth = std::string(kAdmin),
       .handler = Blocking(
           [&](Request& request, Response& response) { PutScope(context, request, response); })}));
  return router.Add({.method = Method::kDelete,
                     .path = std::string(kScopePath),
                     .summary = "Drop a scope with its collections",
                     .tag = "buckets",
                     .responses = {{204, "dropped"}, {404, "not found"}},
                     .auth = std::string(kAdmin),
                     .handler = Blocking([&](Request& request, Response& response) {
                       AnswerDone(response, context.database.admin().DropScope(
                                                std::string(request.Param("bucket")),
                                                std::string(request.Param("scope"))));
                     })});
}

}  // namespace

Status AddCollectionRoutes(Router& router, Context& context) {
  RETURN_IF_ERROR(AddScopes(router, context));
  RETURN_IF_ERROR(router.Add({.method = Method::kGet,
                              .path = std::string(kCollectionPath),
                              .summary = "Show a collection",
                              .tag = "buckets",
                              .parameters = {CollectionCountsParameter()},
                              .responses = {{200, "the collection", Content{}}, {404, "not found"}},
                              .auth = std::string(kReadBucket),
                              .handler = Blocking([&](Request& request, Response& response) {
                                ShowCollection(context, request, response, 200);
                              })}));
  RETURN_IF_ERROR(router.Add({.method = Method::kPut,
                              .path = std::string(kCollectionPath),
                              .summary = "Create a collection",
                              .tag = "buckets",
                              .request = CollectionSettings(),
                              .responses = {{201, "created", Content{}},
                                            {200, "it existed already", Content{}},
                                            {409, "it exists with another max_expiry"}},
                              .auth = std::string(kAdmin),
                              .handler = Blocking([&](Request& request, Response& response) {
                                PutCollection(context, request, response);
                              })}));
  RETURN_IF_ERROR(
      router.Add({.method = Method::kPatch,
                  .path = std::string(kCollectionPath),
                  .summary = "Change a collection's settings",
                  .tag = "buckets",
                  .description = "A new max_expiry applies to documents written from now on.",
                  .request = CollectionSettings(),
                  .responses = {{200, "the collection", Content{}}, {404, "not found"}},
                  .auth = std::string(kAdmin),
                  .handler = Blocking([&](Request& request, Response& response) {
                    PatchCollection(context, request, response);
                  })}));
  RETURN_IF_ERROR(router.Add({.method = Method::kDelete,
                              .path = std::string(kCollectionPath),
                              .summary = "Drop a collection with its documents",
                              .tag = "buckets",
                              .responses = {{204, "dropped"}, {404, "not found"}},
                              .auth = std::string(kAdmin),
                              .handler = Blocking([&](Request& request, Response& response) {
                                AnswerDone(response, context.database.admin().DropCollection(
                                                         CollectionNameOf(request)));
                              })}));
  return router.Add(
      {.method = Method::kPost,
       .path = std::string(kCollectionPath) + "/flush",
       .summary = "Delete all documents of a collection at once",
       .tag = "buckets",
       .description = "Followers get no events for its documents.",
       .responses = {{204, "flushed"}, {404, "there is no such collection"}},
       .auth = std::string(kAdmin),
       .handler = Blocking([&](Request& request, Response& response) {
         AnswerDone(response, context.database.admin().FlushCollection(CollectionNameOf(request)));
       })});
}

}  // namespace sluice::rest
