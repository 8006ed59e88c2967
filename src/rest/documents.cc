// /v1/docs/{keyspace}/{key}: a document as a resource. The body is kept byte for byte.
#include <charconv>
#include <utility>

#include "base/time_text.h"
#include "db/document.h"
#include "json/extract.h"
#include "json/parse.h"
#include "json/path.h"
#include "json/print.h"
#include "rest/access.h"
#include "rest/body.h"
#include "rest/document_http.h"
#include "rest/expiry.h"
#include "rest/http_types.h"
#include "rest/routes.h"
#include "service/whole_reads.h"

namespace sluice::rest {
namespace {

constexpr std::string_view kJsonType = "application/json";
constexpr std::string_view kBinaryType = "application/octet-stream";
constexpr size_t kMaxLookupPaths = 16;

// A body is JSON unless its type says otherwise. The type that curl -d sends when it is not told
// one counts as no type.
bool IsJsonDocument(const Request& request) {
  const auto header = request.FindHeader("Content-Type");
  if (!header) return true;
  std::string_view type = header->substr(0, header->find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return EqualsIgnoreCase(type, kJsonType) ||
         EqualsIgnoreCase(type, "application/x-www-form-urlencoded") ||
         (type.size() > 5 && EqualsIgnoreCase(type.substr(type.size() - 5), "+json"));
}

void AddDocumentHeaders(Response& response, const db::DocumentView& document) {
  AddEntityTag(response, document.cas);
  if (document.expiry_ms != 0) {
    response.AddHeader("X-Sluice-Expiry", UtcText(document.expiry_ms));
  }
  if (document.flags != 0) response.AddHeader("X-Sluice-Flags", std::to_string(document.flags));
  response.AddHeader("X-Sluice-Sequence", std::to_string(document.sequence));
}

// [{"success":true,"value":...},{"success":false}], one for each path asked for.
Result<std::string> LookUp(const Request& request, const db::DocumentView& document) {
  std::vector<json::Path> paths;
  for (const auto& [name, text] : request.query()) {
    if (name != "path") continue;
    ASSIGN_OR_RETURN(json::Path path, json::Path::Parse(text));
    paths.push_back(std::move(path));
  }
  if (paths.size() > kMaxLookupPaths) {
    return Fail(Code::kInvalidArgument, "http.bad_parameter",
                "query parameter 'path': at most {} paths, found {}", kMaxLookupPaths,
                paths.size());
  }
  if (document.datatype != db::Datatype::kJson) {
    return Fail(Code::kInvalidArgument, "document.not_json",
                "the document is binary: it has no paths");
  }
  ASSIGN_OR_RETURN(const auto found, json::Extractor(paths).Raw(document.body));
  std::string out = "[";
  for (const std::string_view raw : found) {
    if (out.size() > 1) out += ',';
    if (raw.empty()) {
      out += R"({"success":false})";
    } else {
      out += R"({"success":true,"value":)";
      out += raw;
      out += '}';
    }
  }
  out += "]\n";
  return out;
}

void AnswerDocument(const Request& request, Response& response, const db::DocumentView& document) {
  if (request.Query("path")) {
    Result<std::string> found = LookUp(request, document);
    if (!found) return response.Error(found.error());
    return response.Json(200, std::move(*found));
  }
  const Result<bool> xattrs = request.QueryBool("xattrs", false);
  if (!xattrs) return response.Error(xattrs.error());
  if (*xattrs) {
    std::string row;
    AppendDocumentRow(request.Param("key"), document, RowValues::kInclude, &row);
    row += '\n';
    return response.Json(200, std::move(row));
  }
  response.Body(200, document.datatype == db::Datatype::kJson ? kJsonType : kBinaryType,
                std::string(document.body));
}

void AnswerRead(const Request& request, Response& response, const Result<bool>& found,
                const db::PinnedDocument& document) {
  if (!found) return response.Error(found.error());
  if (!*found) {
    return response.Error(Error(Code::kNotFound, "document.not_found",
                                "there is no document '{}' in {}", request.Param("key"),
                                request.Param("keyspace")));
  }
  AddDocumentHeaders(response, document.view());
  const auto known = request.FindHeader("If-None-Match");
  if (known && HasEntityTag(*known, document->cas)) return response.NoContent(304);
  AnswerDocument(request, response, document.view());
}

Task<> GetVersion(Context& context, Request& request, Response& response, Target target) {
  db::PinnedDocument document;
  const Result<bool> found = co_await service::GetAtVersion(
      context.database, request.exchange(), target, *request.Query("schema"), &document);
  AnswerRead(request, response, found, document);
}

// Scripts have to run: other connections of this thread do not wait for them.
Task<> FinishGet(Context& context, Request& request, Response& response, Target target,
                 db::PinnedDocument document) {
  const Result<bool> found =
      co_await service::GetOnWorker(context.database, request.exchange(), target, &document);
  AnswerRead(request, response, found, document);
}

// Also one whose migration fails: it can be looked at and mended.
void GetStored(const Context& context, const Request& request, Response& response,
               const Target& target) {
  if (request.Query("schema")) {
    return response.Error(
        Error(Code::kInvalidArgument, "http.bad_parameter",
              "query parameter 'schema': a document as it is stored has no other version"));
  }
  service::NoteWholeRead(context.database, target.keyspace);
  db::PinnedDocument document;
  const Result<bool> found =
      context.database.read_forms().GetStored(target.keyspace, target.key, &document);
  AnswerRead(request, response, found, document);
}

// An empty task: it is answered.
Task<> GetDocument(Context& context, Request& request, Response& response) {
  const Result<Target> target = TargetOf(context, request);
  const Result<bool> stored = request.QueryBool("stored", false);
  if (!target || !stored) {
    response.Error(target ? stored.error() : target.error());
    return {};
  }
  if (*stored) {
    GetStored(context, request, response, *target);
    return {};
  }
  if (request.Query("schema")) return GetVersion(context, request, response, *target);
  db::PinnedDocument document;
  const auto found = service::GetNow(context.database, *target, &document);
  if (!found) return FinishGet(context, request, response, *target, std::move(document));
  AnswerRead(request, response, *found, document);
  return {};
}

Result<uint32_t> FlagsOf(const Request& request) {
  const auto text = request.FindHeader("X-Sluice-Flags");
  if (!text) return 0;
  uint32_t flags = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), flags);
  if (error != std::errc() || end != text->data() + text->size()) {
    return Fail(Code::kInvalidArgument, "http.bad_header",
                "X-Sluice-Flags: expected a number of 32 bits, found '{}'", *text);
  }
  return flags;
}

// The document that a request's body, headers and parameters make.
Result<db::Write> PutWriteOf(const Context& context, Request& request) {
  db::Write write;
  if (IsJsonDocument(request)) {
    RETURN_IF_ERROR(json::Validate(request.body()));
  } else {
    write.document.datatype = db::Datatype::kBinary;
  }
  ASSIGN_OR_RETURN(write.document.expiry_ms, ExpiryOf(context, request));
  ASSIGN_OR_RETURN(write.document.flags, FlagsOf(request));
  ASSIGN_OR_RETURN(write.keep_expiry, request.QueryBool("keep_expiry", false));
  write.keep_xattrs = true;
  write.document.body = request.TakeBody();
  return write;
}

// PUT, and POST, which is an insert. One coroutine from end to end: this is the path that matters.
enum class Store : uint8_t { kAny, kNew };

Result<db::Precondition> StoreConditionOf(const Request& request, Store store) {
  ASSIGN_OR_RETURN(const db::Precondition condition, PreconditionOf(request));
  if (store == Store::kAny) return condition;
  if (condition.kind != db::Precondition::Kind::kNone &&
      condition.kind != db::Precondition::Kind::kAbsent) {
    return Fail(Code::kInvalidArgument, "http.bad_precondition",
                "If-Match: an insert takes If-None-Match: * only");
  }
  return db::Precondition::Absent();
}

Task<> StoreDocument(Context& context, Request& request, Response& response, Store store) {
  const Result<Target> target = TargetOf(context, request);
  if (!target) co_return response.Error(target.error());
  const Result<db::Precondition> condition = StoreConditionOf(request, store);
  if (!condition) co_return response.Error(condition.error());
  Result<db::Write> write = PutWriteOf(context, request);
  if (!write) co_return response.Error(write.error());
  write->keyspace = target->keyspace;
  write->key = target->key;
  write->precondition = *condition;
  const db::CommitResult result =
      co_await service::CommitAndWait(context.database, CallerOf(request), std::move(*write));
  if (!result.status.ok()) {
    co_return AnswerFailedWrite(context, request, response, result.status, *target, *condition);
  }
  const bool created = condition->kind == db::Precondition::Kind::kAbsent;
  AnswerWrite(response, result, created ? Outcome::kCreated : Outcome::kDone);
}

Task<> InsertWithNewKey(Context& context, Request& request, Response& response) {
  const Result<db::KeyspaceId> keyspace = service::ResolveKeyspace(
      context.database, request.Param("keyspace"), service::Access::kWrite);
  if (!keyspace) co_return response.Error(keyspace.error());
  Result<db::Write> write = PutWriteOf(context, request);
  if (!write) co_return response.Error(write.error());
  const Result<std::string> made = service::NewKeyOf(context.database, *keyspace, write->document);
  if (!made) co_return response.Error(made.error());
  const std::string& key = *made;
  write->keyspace = *keyspace;
  write->key = key;
  write->precondition = db::Precondition::Absent();
  const db::CommitResult result =
      co_await service::CommitAndWait(context.database, CallerOf(request), std::move(*write));
  if (!result.status.ok()) co_return response.Error(result.status);
  const db::WriteResult& written = result.writes.front();
  if (!written.diverted_to.empty()) co_return AnswerWrite(response, result, Outcome::kCreated);
  AddEntityTag(response, written.cas);
  response.AddHeader("Location", "/v1/docs/" + PercentEncode(request.Param("keyspace")) + "/" +
                                     PercentEncode(key));
  json::Value answer = json::Value::Object({{"key", key},
                                            {"cas", std::to_string(written.cas)},
                                            {"sequence", json::Value::Unsigned(result.sequence)}});
  SetViolation(written, &answer);
  response.Json(201, AnswerText(answer));
}

Task<> DeleteDocument(Context& context, Request& request, Response& response) {
  const Result<Target> target = TargetOf(context, request);
  if (!target) co_return response.Error(target.error());
  Result<db::Precondition> condition = PreconditionOf(request);
  if (!condition) co_return response.Error(condition.error());
  if (condition->kind == db::Precondition::Kind::kAbsent) {
    co_return response.Error(Error(Code::kInvalidArgument, "http.bad_precondition",
                                   "If-None-Match: a deletion takes If-Match only"));
  }
  if (condition->kind == db::Precondition::Kind::kNone) condition = db::Precondition::Present();
  db::Write write = db::DeleteWrite(target->keyspace, std::string(target->key), *condition);
  const db::CommitResult result =
      co_await service::CommitAndWait(context.database, CallerOf(request), std::move(write));
  if (!result.status.ok()) {
    co_return AnswerFailedWrite(context, request, response, result.status, *target, *condition);
  }
  AnswerWrite(response, result, Outcome::kDone);
}

std::vector<Parameter> PutParameters() {
  using In = Parameter::In;
  return {
      {.name = "expiry",
       .description = "when it expires: a duration (30s), a time (2026-11-15T12:00:00Z) or Unix "
                      "time in ms; also as header X-Sluice-Expiry"},
      {.name = "keep_expiry",
       .description = "keep the present document's expiry",
       .type = "boolean"},
      {.name = "If-Match", .in = In::kHeader, .description = "the ETag it must have, or *"},
      {.name = "If-None-Match", .in = In::kHeader, .description = "*: it must not exist"},
      {.name = "X-Sluice-Flags", .in = In::kHeader, .description = "flags to keep, 32 bits"},
  };
}

Content AnyDocument() { return {.description = "JSON, or with another Content-Type any bytes"}; }

Status AddDocumentReading(Router& router, Context& context) {
  using In = Parameter::In;
  return router.Add(
      {.method = Method::kGet,
       .path = "/v1/docs/{keyspace}/{key}",
       .summary = "Read a document",
       .tag = "documents",
       .description = "ETag is the CAS. The body is the document, byte for byte.",
       .parameters = {{.name = "path", .description = "look up parts only; may be repeated"},
                      {.name = "schema",
                       .description = "the schema version in which to give the document, if steps "
                                      "lead to it; default: the current one"},
                      {.name = "stored",
                       .description = "the stored document, not the current version of its type",
                       .type = "boolean"},
                      {.name = "xattrs",
                       .description = "answer with an object that also has the extended attributes",
                       .type = "boolean"},
                      {.name = "If-None-Match",
                       .in = In::kHeader,
                       .description = "ETags that the client already has"}},
       .responses = {{200, "the document", AnyDocument()},
                     {304, "the document still has an ETag of If-None-Match"},
                     {404, "not found"}},
       .auth = std::string(kReadKeyspace),
       .handler = [&context](Request& request, Response& response) -> Task<> {
         return GetDocument(context, request, response);
       }});
}

}  // namespace

Status AddDocumentRoutes(Router& router, Context& context) {
  RETURN_IF_ERROR(AddDocumentReading(router, context));
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kPut,
       .path = "/v1/docs/{keyspace}/{key}",
       .summary = "Write a document",
       .tag = "documents",
       .description = "Creates or replaces it; conditions make it an insert or a replace.",
       .parameters = PutParameters(),
       .request = AnyDocument(),
       .responses = {{200, "written", WrittenContent()},
                     {201, "created, with If-None-Match: *", WrittenContent()},
                     {202, "it does not fit its type's schema and was put in quarantine"},
                     {412, "the condition does not hold"},
                     {422, "it does not fit its type's schema"}},
       .auth = std::string(kWriteKeyspace),
       .handler = [&context](Request& request, Response& response) -> Task<> {
         return StoreDocument(context, request, response, Store::kAny);
       }}));
  RETURN_IF_ERROR(
      router.Add({.method = Method::kPost,
                  .path = "/v1/docs/{keyspace}/{key}",
                  .summary = "Insert a document",
                  .tag = "documents",
                  .parameters = PutParameters(),
                  .request = AnyDocument(),
                  .responses = {{201, "created", WrittenContent()}, {409, "it exists already"}},
                  .auth = std::string(kWriteKeyspace),
                  .handler = [&context](Request& request, Response& response) -> Task<> {
                    return StoreDocument(context, request, response, Store::kNew);
                  }}));
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kPost,
       .path = "/v1/docs/{keyspace}",
       .summary = "Insert a document under a new key",
       .tag = "documents",
       .parameters = PutParameters(),
       .request = AnyDocument(),
       .responses = {{201, "created; the key is in the answer and in Location", WrittenContent()}},
       .auth = std::string(kWriteKeyspace),
       .handler = [&context](Request& request, Response& response) -> Task<> {
         return InsertWithNewKey(context, request, response);
       }}));
  return router.Add({.method = Method::kDelete,
                     .path = "/v1/docs/{keyspace}/{key}",
                     .summary = "Delete a document",
                     .tag = "documents",
                     .parameters = {{.name = "If-Match",
                                     .in = Parameter::In::kHeader,
                                     .description = "the ETag it must have"}},
                     .responses = {{200, "deleted", WrittenContent()},
                                   {404, "not found"},
                                   {412, "it has another ETag"}},
                     .auth = std::string(kWriteKeyspace),
                     .handler = [&context](Request& request, Response& response) -> Task<> {
                       return DeleteDocument(context, request, response);
                     }});
}

}  // namespace sluice::rest
