// /v1/docs/{keyspace}/{key}/history: what is kept of a document's earlier versions.
#include "service/history.h"

#include <string>
#include <utility>

#include "doctype/document_diff.h"
#include "json/parse.h"
#include "rest/access.h"
#include "rest/body.h"
#include "rest/document_http.h"
#include "rest/http_types.h"
#include "rest/routes.h"

namespace sluice::rest {
namespace {

using json::Value;

Result<Value> HistoryOf(const Context& context, const Request& request) {
  ASSIGN_OR_RETURN(const Target target, TargetOf(context, request));
  ASSIGN_OR_RETURN(const bool values, request.QueryBool("values", false));
  ASSIGN_OR_RETURN(const auto revisions, service::ListRevisions(context.database, target));
  Value list = Value::EmptyArray();
  for (const service::KeptRevision& revision : revisions) {
    Value entry = Value::Object({{"version", Value::Unsigned(revision.version)},
                                 {"replaced", Value::Unsigned(revision.replaced_ms)},
                                 {"bytes", Value::Unsigned(revision.document.body.size())},
                                 {"cas", std::to_string(revision.document.cas)}});
    if (revision.key) entry.Set("key", *revision.key);
    if (values) {
      ASSIGN_OR_RETURN(Value value, json::Parse(revision.document.body));
      entry.Set("value", std::move(value));
    }
    list.Append(std::move(entry));
  }
  return Value::Object({{"key", target.key}, {"revisions", std::move(list)}});
}

Result<Value> DiffOf(const Context& context, const Request& request) {
  ASSIGN_OR_RETURN(const Target target, TargetOf(context, request));
  const std::string_view from = request.Param("version");
  const std::string_view to = request.Query("to").value_or(service::kCurrentVersion);
  ASSIGN_OR_RETURN(const auto changes,
                   service::CompareVersions(context.database, target, from, to));
  return Value::Object({{"key", target.key},
                        {"from", from},
                        {"to", to},
                        {"changes", doctype::ToJson(changes)},
                        {"text", doctype::ToText(changes)}});
}

void GetRevision(const Context& context, const Request& request, Response& response) {
  const Result<Target> target = TargetOf(context, request);
  if (!target) return response.Error(target.error());
  const auto document = service::ReadVersion(context.database, *target, request.Param("version"));
  if (!document) return response.Error(document.error());
  AddEntityTag(response, document->cas);
  response.Json(200, document->body);
}

Task<> RestoreVersion(Context& context, Request& request, Response& response) {
  const Result<Target> target = TargetOf(context, request);
  if (!target) co_return response.Error(target.error());
  const Result<db::Precondition> condition = PreconditionOf(request);
  if (!condition) co_return response.Error(condition.error());
  Result<db::Write> write =
      service::RestoringWrite(context.database, *target, request.Param("version"), *condition);
  if (!write) co_return response.Error(write.error());
  const db::CommitResult result =
      co_await service::CommitAndWait(context.database, CallerOf(request), std::move(*write));
  if (result.status.ok()) co_return AnswerWrite(response, result, Outcome::kDone);
  AnswerFailedWrite(context, request, response, result.status, *target, *condition);
}

void Erase(Context& context, const Request& request, Response& response) {
  const Result<Target> target = TargetOf(context, request);
  if (!target) return response.Error(target.error());
  const auto erased = context.database.revisions().Erase(target->keyspace, target->key);
  if (!erased) return response.Error(erased.error());
  response.Json(200, AnswerText(Value::Object({{"erased", Value::Unsigned(*erased)}})));
}

void AnswerHistory(Response& response, const Result<Value>& value) {
  if (!value) return response.Error(value.error());
  response.Json(200, AnswerText(*value));
}

Status AddHistoryReading(Router& router, Context& context) {
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kGet,
       .path = "/v1/docs/{keyspace}/{key}/history",
       .summary = "List a document's revisions",
       .tag = "types",
       .parameters = {{.name = "values", .description = "with the documents", .type = "boolean"}},
       .responses = {{200, "oldest first", Content{}}},
       .auth = std::string(kReadKeyspace),
       .handler = Blocking([&](Request& request, Response& response) {
         AnswerHistory(response, HistoryOf(context, request));
       })}));
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kGet,
       .path = "/v1/docs/{keyspace}/{key}/history/{version}",
       .summary = "Read a revision",
       .tag = "types",
       .responses = {{200, "the document of that version", Content{}}, {404, "not kept"}},
       .auth = std::string(kReadKeyspace),
       .handler = Blocking([&](Request& request, Response& response) {
         GetRevision(context, request, response);
       })}));
  return router.Add(
      {.method = Method::kGet,
       .path = "/v1/docs/{keyspace}/{key}/history/{version}/diff",
       .summary = "Compare two versions of a document",
       .tag = "types",
       .parameters = {{.name = "to", .description = "another version; without it the document"}},
       .responses = {{200, "the differences", Content{}}, {404, "not kept"}},
       .auth = std::string(kReadKeyspace),
       .handler = Blocking([&](Request& request, Response& response) {
         AnswerHistory(response, DiffOf(context, request));
       })});
}

}  // namespace

Status AddHistoryRoutes(Router& router, Context& context) {
  RETURN_IF_ERROR(AddHistoryReading(router, context));
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kPost,
       .path = "/v1/docs/{keyspace}/{key}/history/{version}/restore",
       .summary = "Write a revision's content again",
       .tag = "types",
       .description =
           "It becomes a new version of the document; the replaced one becomes a revision.",
       .parameters = {{.name = "If-Match",
                       .in = Parameter::In::kHeader,
                       .description = "the ETag that the document must have"}},
       .responses = {{200, "written", WrittenContent()}, {404, "not kept"}},
       .auth = std::string(kWriteKeyspace),
       .handler = [&context](Request& request, Response& response) -> Task<> {
         return RestoreVersion(context, request, response);
       }}));
  return router.Add({.method = Method::kDelete,
                     .path = "/v1/docs/{keyspace}/{key}/history",
                     .summary = "Erase all revisions of a document",
                     .tag = "types",
                     .responses = {{200, "the number of erased revisions", Content{}}},
                     .auth = std::string(kWriteKeyspace),
                     .handler = Blocking([&](Request& request, Response& response) {
                       Erase(context, request, response);
                     })});
}

}  // namespace sluice::rest
