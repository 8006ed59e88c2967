// /v1/docs/{keyspace}/{key}/history: what is kept of a document's earlier versions.
#include <charconv>
#include <utility>

#include "doctype/document_diff.h"
#include "doctype_db/keyspace_policy.h"
#include "json/parse.h"
#include "json/print.h"
#include "rest/access.h"
#include "rest/body.h"
#include "rest/document_http.h"
#include "rest/http_types.h"
#include "rest/routes.h"

namespace sluice::rest {
namespace {

using json::Value;

constexpr std::string_view kCurrent = "current";

Status NoRevision(const Target& target, std::string_view version) {
  return Error(Code::kNotFound, "revision.not_found", "document '{}' has no revision '{}'",
               target.key, version);
}

Result<uint64_t> NumberOf(const Target& target, std::string_view text) {
  uint64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || end != text.data() + text.size() || version == 0) {
    return Unexpected(NoRevision(target, text));
  }
  return version;
}

// "3" is a revision, "current" the document itself, as it is stored.
Result<db::Document> VersionOf(const Context& context, const Target& target,
                               std::string_view text) {
  db::PinnedDocument document;
  if (text == kCurrent) {
    ASSIGN_OR_RETURN(const bool found, context.database.read_forms().GetStored(
                                           target.keyspace, target.key, &document));
    if (found) return document->Copy();
    return Fail(Code::kNotFound, "document.not_found", "there is no document '{}'", target.key);
  }
  ASSIGN_OR_RETURN(const uint64_t version, NumberOf(target, text));
  ASSIGN_OR_RETURN(const bool kept,
                   context.database.revisions().Has(target.keyspace, target.key, version));
  if (!kept) return Unexpected(NoRevision(target, text));
  ASSIGN_OR_RETURN(const bool found, context.database.revisions().Get(target.keyspace, target.key,
                                                                      version, &document));
  if (!found) return Unexpected(NoRevision(target, text));  // trimmed since
  return document->Copy();
}

Result<Value> HistoryOf(const Context& context, const Request& request) {
  ASSIGN_OR_RETURN(const Target target, TargetOf(context, request));
  ASSIGN_OR_RETURN(const bool values, request.QueryBool("values", false));
  ASSIGN_OR_RETURN(const auto revisions,
                   context.database.revisions().List(target.keyspace, target.key));
  const auto policy = context.database.read_forms().PolicyOf(target.keyspace, nullptr);
  db::PinnedDocument present;
  ASSIGN_OR_RETURN(const bool found,
                   context.database.read_forms().GetStored(target.keyspace, target.key, &present));
  Value list = Value::EmptyArray();
  for (const db::Revision& revision : revisions) {
    db::PinnedDocument document;
    ASSIGN_OR_RETURN(
        const bool there,
        context.database.revisions().Get(target.keyspace, target.key, revision.version, &document));
    if (!there) continue;  // trimmed since
    Value entry = Value::Object({{"version", Value::Unsigned(revision.version)},
                                 {"replaced", Value::Unsigned(revision.made_ms)},
                                 {"bytes", Value::Unsigned(document->body.size())},
                                 {"cas", std::to_string(document->cas)}});
    if (policy != nullptr) {
      entry.Set("key", policy->RevisionKey(target.key, found ? &present.view() : nullptr,
                                           revision.version));
    }
    if (values) {
      ASSIGN_OR_RETURN(Value value, json::Parse(document->body));
      entry.Set("value", std::move(value));
    }
    list.Append(std::move(entry));
  }
  return Value::Object({{"key", target.key}, {"revisions", std::move(list)}});
}

Result<Value> DiffOf(const Context& context, const Request& request) {
  ASSIGN_OR_RETURN(const Target target, TargetOf(context, request));
  const std::string_view from = request.Param("version");
  const std::string_view to = request.Query("to").value_or(kCurrent);
  ASSIGN_OR_RETURN(const db::Document before, VersionOf(context, target, from));
  ASSIGN_OR_RETURN(const db::Document after, VersionOf(context, target, to));
  ASSIGN_OR_RETURN(const Value before_value, json::Parse(before.body));
  ASSIGN_OR_RETURN(const Value after_value, json::Parse(after.body));
  const auto changes = doctype::Diff(before_value, after_value);
  return Value::Object({{"key", target.key},
                        {"from", from},
                        {"to", to},
                        {"changes", doctype::ToJson(changes)},
                        {"text", doctype::ToText(changes)}});
}

void GetRevision(const Context& context, const Request& request, Response& response) {
  const Result<Target> target = TargetOf(context, request);
  if (!target) return response.Error(target.error());
  const auto document = VersionOf(context, *target, request.Param("version"));
  if (!document) return response.Error(document.error());
  AddEntityTag(response, document->cas);
  response.Json(200, document->body);
}

// Its content is written as any other document is: it gets a new version, stamps, and what it
// replaces becomes a revision.
Task<> RestoreVersion(Context& context, Request& request, Response& response) {
  const Result<Target> target = TargetOf(context, request);
  if (!target) co_return response.Error(target.error());
  const Result<db::Precondition> condition = PreconditionOf(request);
  if (!condition) co_return response.Error(condition.error());
  auto revision = VersionOf(context, *target, request.Param("version"));
  if (!revision) co_return response.Error(revision.error());
  revision->cas = 0;
  revision->expiry_ms = 0;
  const auto catalog = context.database.catalog();
  if (const auto* policy = dynamic_cast<const doctype_db::KeyspacePolicy*>(
          catalog->Find(target->keyspace)->policy.get())) {
    policy->SayVersion(target->key, &*revision);
  }
  db::Write write =
      db::PutWrite(target->keyspace, std::string(target->key), std::move(*revision), *condition);
  const db::CommitResult result =
      co_await service::CommitAndWait(context.database, CallerOf(request), std::move(write));
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
