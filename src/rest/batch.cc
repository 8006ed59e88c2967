// /v1/batch: many documents in one request.
#include "service/batch.h"

#include <utility>
#include <vector>

#include "json/print.h"
#include "rest/access.h"
#include "rest/body.h"
#include "rest/document_http.h"
#include "rest/document_item.h"
#include "rest/http_types.h"
#include "rest/routes.h"

namespace sluice::rest {
namespace {

constexpr size_t kMaxAnswerBytes = 64 << 20;

// --- get ---

Status AppendFound(std::string_view key, const Result<const db::DocumentView*>& found,
                   std::string* out) {
  out->append(out->ends_with('[') ? "\n" : ",\n");
  if (found && *found != nullptr) {
    AppendDocumentRow(key, **found, RowValues::kInclude, out);
  } else if (found) {
    out->append(R"({"key":)");
    json::AppendQuoted(key, out);
    out->append(R"(,"missing":true})");
  } else if (IsOfDocument(found.error())) {
    AppendUnreadableRow(key, found.error(), out);
  } else {
    return found.error();
  }
  if (out->size() <= kMaxAnswerBytes) return OkStatus();
  return Error(Code::kTooLarge, "batch.too_large", "the documents have more than {} bytes",
               kMaxAnswerBytes);
}

Result<std::string> GetBatch(const Context& context, const Request& request) {
  ASSIGN_OR_RETURN(const json::Value body, ReadObject(request.body(), {"keyspace", "keys"}));
  ASSIGN_OR_RETURN(const std::string name, RequiredString(body, "keyspace"));
  ASSIGN_OR_RETURN(
      const db::KeyspaceId keyspace,
      service::ResolvePermitted(context.database, SenderOf(request), service::Access::kRead, name));
  ASSIGN_OR_RETURN(const json::Value list, ListField(body, "keys"));
  if (list.is_missing()) return BadField("keys", "a list of keys", list);
  RETURN_IF_ERROR(service::CheckBatchSize(list.size(), "keys"));
  std::vector<std::string_view> keys;
  for (size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_string()) return BadField("keys", "a list of strings", list[i]);
    keys.push_back(list[i].AsString());
  }
  std::string out = R"({"documents":[)";
  RETURN_IF_ERROR(service::ReadBatch(
      context.database, keyspace, keys,
      [&](std::string_view key, const auto& found) { return AppendFound(key, found, &out); }));
  out.append("\n]}\n");
  return out;
}

// --- put ---

Result<std::vector<db::Write>> WritesOf(const Context& context, const Request& request,
                                        const json::Value& body) {
  ASSIGN_OR_RETURN(const json::Value list, ListField(body, "writes"));
  if (list.is_missing()) return BadField("writes", "a list of writes", list);
  RETURN_IF_ERROR(service::CheckBatchSize(list.size(), "writes"));
  const std::vector<std::string_view> raw = RawItems(request.body(), "writes");
  const uint64_t now_ms = context.clock.WallMs();
  std::vector<db::Write> writes;
  for (size_t i = 0; i < list.size(); ++i) {
    const auto read = [&]() -> Result<db::Write> {
      RETURN_IF_ERROR(CheckObject(list[i], "a write",
                                  {"keyspace", "key", "value", "base64", "expiry", "flags",
                                   "xattrs", "cas", "if", "delete"}));
      ASSIGN_OR_RETURN(const std::string name, RequiredString(list[i], "keyspace"));
      ASSIGN_OR_RETURN(const db::KeyspaceId keyspace,
                       service::ResolvePermitted(context.database, SenderOf(request),
                                                 service::Access::kWrite, name));
      ASSIGN_OR_RETURN(db::Write write, WriteOfItem(list[i], raw[i], now_ms));
      write.keyspace = keyspace;
      return write;
    };
    Result<db::Write> write = read();
    if (!write) return Unexpected(write.error().With("write", std::to_string(i)));
    writes.push_back(std::move(*write));
  }
  return writes;
}

json::Value TogetherView(const std::vector<std::string>& keys, const db::CommitResult& result) {
  json::Value results = json::Value::EmptyArray();
  for (size_t i = 0; i < keys.size(); ++i) {
    json::Value view =
        json::Value::Object({{"key", keys[i]}, {"cas", std::to_string(result.writes[i].cas)}});
    SetViolation(result.writes[i], &view);
    results.Append(std::move(view));
  }
  if (keys.empty()) return json::Value::Object({{"results", std::move(results)}});
  return json::Value::Object(
      {{"sequence", json::Value::Unsigned(result.sequence)}, {"results", std::move(results)}});
}

json::Value ResultView(std::string_view key, const db::CommitResult& result) {
  json::Value view = json::Value::Object({{"key", key}});
  if (result.status.ok()) {
    view.Set("cas", std::to_string(result.writes.front().cas));
    view.Set("sequence", json::Value::Unsigned(result.sequence));
    SetViolation(result.writes.front(), &view);
  } else {
    view.Set("error", json::Value::Object(
                          {{"id", result.status.id()}, {"message", result.status.message()}}));
  }
  return view;
}

Result<json::Value> PutBatch(Context& context, const Request& request) {
  ASSIGN_OR_RETURN(const json::Value body, ReadObject(request.body(), {"atomic", "writes"}));
  ASSIGN_OR_RETURN(const auto atomic, BoolField(body, "atomic"));
  ASSIGN_OR_RETURN(std::vector<db::Write> writes, WritesOf(context, request, body));
  std::vector<std::string> keys;
  for (const db::Write& write : writes) keys.push_back(write.key);
  if (atomic.value_or(true)) {
    ASSIGN_OR_RETURN(const db::CommitResult result,
                     service::WriteTogether(context.database, ActorOf(request), std::move(writes)));
    return TogetherView(keys, result);
  }
  const auto results = service::WriteEach(context.database, ActorOf(request), std::move(writes));
  json::Value list = json::Value::EmptyArray();
  for (size_t i = 0; i < results.size(); ++i) list.Append(ResultView(keys[i], results[i]));
  return json::Value::Object({{"results", std::move(list)}});
}

}  // namespace

Status AddBatchRoutes(Router& router, Context& context) {
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kPost,
       .path = "/v1/batch/get",
       .summary = "Read many documents",
       .tag = "documents",
       .description = "From one snapshot, in the order of the request.",
       .request = Content{.description = "a keyspace and some of its keys",
                          .schema = R"({"type":"object","required":["keyspace","keys"],)"
                                    R"("properties":{"keyspace":{"type":"string"},"keys":)"
                                    R"({"type":"array","items":{"type":"string"}}}})"},
       .responses = {{200, "the documents; `missing` for those that do not exist", Content{}}},
       .auth = std::string(kKnown),
       .handler = Blocking([&context](Request& request, Response& response) {
         Result<std::string> answer = GetBatch(context, request);
         if (!answer) return response.Error(answer.error());
         response.Json(200, std::move(*answer));
       })}));
  return router.Add(
      {.method = Method::kPost,
       .path = "/v1/batch/put",
       .summary = "Write many documents",
       .tag = "documents",
       .description = "As one commit, all or none; with atomic false, each by itself.",
       .request = Content{.description = "writes and deletions with their conditions",
                          .schema = R"({"type":"object","required":["writes"],"properties":{)"
                                    R"("atomic":{"type":"boolean"},"writes":{"type":"array",)"
                                    R"("items":{"type":"object","required":["keyspace","key"],)"
                                    R"("properties":{"keyspace":{"type":"string"},)"
                                    R"("key":{"type":"string"},"value":{},)"
                                    R"("base64":{"type":"string"},"cas":{"type":"string"},)"
                                    R"("if":{"enum":["absent","present"]},)"
                                    R"("expiry":{"type":"string"},"flags":{"type":"integer"},)"
                                    R"("xattrs":{"type":"object"},)"
                                    R"("delete":{"type":"boolean"}}}}}})"},
       .responses = {{200, "the new versions, or with atomic false an error for each", Content{}},
                     {409, "a condition does not hold; `write` is the number of its write"}},
       .auth = std::string(kKnown),
       .handler = Blocking([&context](Request& request, Response& response) {
         const Result<json::Value> answer = PutBatch(context, request);
         if (!answer) return response.Error(answer.error());
         response.Json(200, AnswerText(*answer));
       })});
}

}  // namespace sluice::rest
