// /v1/batch: many documents in one request.
#include <utility>
#include <vector>

#include "json/print.h"
#include "rest/access.h"
#include "rest/body.h"
#include "rest/commit_window.h"
#include "rest/document_http.h"
#include "rest/document_item.h"
#include "rest/http_types.h"
#include "rest/routes.h"
#include "rest/whole_reads.h"

namespace sluice::rest {
namespace {

constexpr size_t kMaxItems = db::kMaxCommitWrites;
constexpr size_t kMaxAnswerBytes = 64 << 20;

Status TooMany(std::string_view what) {
  return Error(Code::kTooLarge, "batch.too_large", "a batch has at most {} {}", kMaxItems, what);
}

// The id of a keyspace in a body, if the sender has the permission on its bucket.
Result<db::KeyspaceId> PermittedKeyspace(const Context& context, const Request& request,
                                         auth::Permission permission, std::string_view text) {
  ASSIGN_OR_RETURN(const db::KeyspaceName name, db::KeyspaceName::Parse(text));
  RETURN_IF_ERROR(Require(request, permission, name.bucket));
  ASSIGN_OR_RETURN(const db::KeyspaceId keyspace, context.database.Resolve(name));
  if (permission == auth::Permission::kWrite) RETURN_IF_ERROR(RefuseTable(keyspace));
  return keyspace;
}

// --- get ---

Status AppendFound(const Context& context, db::KeyspaceId keyspace, std::string_view key,
                   const db::DatabaseSnapshot& snapshot, std::string* out) {
  RETURN_IF_ERROR(db::CheckKey(key));
  db::PinnedDocument document;
  const Result<bool> found = context.database.Get(keyspace, key, &document, &snapshot);
  if (found && *found) {
    AppendDocumentRow(key, document.view(), RowValues::kInclude, out);
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
  ASSIGN_OR_RETURN(const db::KeyspaceId keyspace,
                   PermittedKeyspace(context, request, auth::Permission::kRead, name));
  NoteWholeRead(context.database, keyspace);
  ASSIGN_OR_RETURN(const json::Value keys, ListField(body, "keys"));
  if (keys.is_missing()) return BadField("keys", "a list of keys", keys);
  if (keys.size() > kMaxItems) return Unexpected(TooMany("keys"));
  const auto snapshot = context.database.NewSnapshot();
  std::string out = R"({"documents":[)";
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!keys[i].is_string()) return BadField("keys", "a list of strings", keys[i]);
    out.append(i == 0 ? "\n" : ",\n");
    RETURN_IF_ERROR(AppendFound(context, keyspace, keys[i].AsString(), *snapshot, &out));
  }
  out.append("\n]}\n");
  return out;
}

// --- put ---

Result<std::vector<db::Write>> WritesOf(const Context& context, const Request& request,
                                        const json::Value& body) {
  ASSIGN_OR_RETURN(const json::Value list, ListField(body, "writes"));
  if (list.is_missing()) return BadField("writes", "a list of writes", list);
  if (list.size() > kMaxItems) return Unexpected(TooMany("writes"));
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
                       PermittedKeyspace(context, request, auth::Permission::kWrite, name));
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

Result<json::Value> PutAtomically(Context& context, std::string actor,
                                  std::vector<db::Write> writes) {
  db::Commit commit;
  commit.actor = std::move(actor);
  json::Value results = json::Value::EmptyArray();
  if (writes.empty()) return json::Value::Object({{"results", std::move(results)}});
  commit.shard = context.database.ShardOf(writes[0].keyspace, writes[0].key);
  for (size_t i = 0; i < writes.size(); ++i) {
    if (context.database.ShardOf(writes[i].keyspace, writes[i].key) != commit.shard) {
      return Unexpected(
          Error(Code::kInvalidArgument, "batch.several_shards",
                "the documents belong to different shards, so they can't be written as one: use "
                "\"atomic\":false")
              .With("write", std::to_string(i)));
    }
    results.Append(json::Value::Object({{"key", writes[i].key}}));
  }
  commit.writes = std::move(writes);
  const db::CommitResult result = context.database.Apply(std::move(commit));
  if (!result.status.ok()) {
    if (result.failed_write < 0) return Unexpected(result.status);
    return Unexpected(result.status.With("write", std::to_string(result.failed_write)));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    results.MutableItem(i)->Set("cas", std::to_string(result.writes[i].cas));
    SetViolation(result.writes[i], results.MutableItem(i));
  }
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

json::Value PutOneByOne(Context& context, const std::string& actor, std::vector<db::Write> writes) {
  std::vector<std::string> keys;
  std::vector<db::CommitResult> results(writes.size());
  {
    CommitWindow window(context.database);
    for (size_t i = 0; i < writes.size(); ++i) {
      keys.push_back(writes[i].key);
      db::Commit commit = CommitOf(context, std::move(writes[i]));
      commit.actor = actor;
      window.Submit(std::move(commit),
                    [slot = &results[i]](db::CommitResult result) { *slot = std::move(result); });
    }
  }
  json::Value list = json::Value::EmptyArray();
  for (size_t i = 0; i < results.size(); ++i) list.Append(ResultView(keys[i], results[i]));
  return json::Value::Object({{"results", std::move(list)}});
}

Result<json::Value> PutBatch(Context& context, const Request& request) {
  ASSIGN_OR_RETURN(const json::Value body, ReadObject(request.body(), {"atomic", "writes"}));
  ASSIGN_OR_RETURN(const auto atomic, BoolField(body, "atomic"));
  ASSIGN_OR_RETURN(std::vector<db::Write> writes, WritesOf(context, request, body));
  if (atomic.value_or(true)) return PutAtomically(context, ActorOf(request), std::move(writes));
  return PutOneByOne(context, ActorOf(request), std::move(writes));
}

}  // namespace

Status AddBatchRoutes(Router& router, Context& context) {
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kPost,
       .path = "/v1/batch/get",
       .summary = "Read many documents",
       .tag = "documents",
       .description = "From one snapshot, in the order asked for.",
       .request = Content{.description = "a keyspace and keys of it",
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
       .description = "As one commit, all or none; with atomic false each for itself.",
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
