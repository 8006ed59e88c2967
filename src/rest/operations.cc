// What an administrator does to a running server: status, backup, expiry.
#include <filesystem>
#include <utility>

#include "base/thread.h"
#include "rest/access.h"
#include "rest/body.h"
#include "rest/http_types.h"
#include "rest/route_auth.h"
#include "rest/routes.h"

namespace sluice::rest {
namespace {

using json::Value;

Value ShardView(const db::ShardStats& shard) {
  return Value::Object({{"sequence", Value::Unsigned(shard.sequence)},
                        {"trimmed", Value::Unsigned(shard.trimmed)},
                        {"commits", Value::Unsigned(shard.commits)},
                        {"groups", Value::Unsigned(shard.groups)},
                        {"writes", Value::Unsigned(shard.writes)},
                        {"rejected", Value::Unsigned(shard.rejected)},
                        {"queued", Value::Unsigned(shard.queued)}});
}

Value StoreView(const db::StoreStats& store) {
  return Value::Object(
      {{"file_bytes", Value::Unsigned(store.sst_bytes)},
       {"memtable_bytes", Value::Unsigned(store.memtable_bytes)},
       {"cache_bytes", Value::Unsigned(store.cache_bytes)},
       {"pending_compaction_bytes", Value::Unsigned(store.pending_compaction_bytes)}});
}

std::string_view PhaseName(Lifecycle::Phase phase) {
  switch (phase) {
    case Lifecycle::Phase::kStarting:
      return "starting";
    case Lifecycle::Phase::kReady:
      return "ready";
    case Lifecycle::Phase::kDraining:
      return "draining";
  }
  return "";
}

Value ThreadsView() {
  Value threads = Value::EmptyArray();
  for (const RunningThread& thread : RunningThreads()) {
    threads.Append(Value::Object({{"kind", thread.kind},
                                  {"owner", thread.owner},
                                  {"id", Value(static_cast<int64_t>(thread.id))},
                                  {"cpu_ms", Value(static_cast<int64_t>(thread.cpu.count()))},
                                  {"age_ms", Value(static_cast<int64_t>(thread.age.count()))}}));
  }
  return threads;
}

Value StatusView(const Context& context) {
  const db::DatabaseStats stats = context.database.operations().Stats();
  Value shards = Value::EmptyArray();
  for (const db::ShardStats& shard : stats.shards) shards.Append(ShardView(shard));
  const auto catalog = context.database.catalog();
  Value view = Value::Object(
      {{"version", context.version},
       {"phase", PhaseName(context.lifecycle.phase())},
       {"uptime_seconds", Value::Unsigned((context.clock.WallMs() - context.started_ms) / 1000)},
       {"buckets", Value::Unsigned(catalog->buckets().size())},
       {"collections", Value::Unsigned(catalog->keyspaces().size())},
       {"followers", Value::Unsigned(catalog->followers().size())},
       {"shards", std::move(shards)},
       {"store", StoreView(stats.store)},
       {"expired", Value::Unsigned(stats.expired)},
       {"read_only", stats.read_only}});
  if (stats.read_only) view.Set("failure", stats.failure);
  return view;
}

Parameter ThreadsParameter() {
  return {.name = "threads",
          .description = "also list the threads, each with its processor time",
          .type = "boolean"};
}

void ShowStatus(const Context& context, const Request& request, Response& response) {
  const Result<bool> with_threads = request.QueryBool("threads", false);
  if (!with_threads) return response.Error(with_threads.error());
  Value view = StatusView(context);
  if (*with_threads) view.Set("threads", ThreadsView());
  response.Json(200, AnswerText(view));
}

// Where a backup goes. With a root, a name below it or a path that leads there; else an absolute
// path.
Result<std::string> BackupPath(const Context& context, const Request& request) {
  namespace fs = std::filesystem;
  ASSIGN_OR_RETURN(const Value body, ReadObject(request.body(), {"directory"}));
  ASSIGN_OR_RETURN(const std::string directory, RequiredString(body, "directory"));
  if (directory.find('\0') != std::string::npos) {
    return BadField("directory", "a path without the character NUL", body["directory"]);
  }
  if (context.backup_root.empty()) {
    if (fs::path(directory).is_absolute()) return directory;
    return BadField("directory", "an absolute path of the server's machine", body["directory"]);
  }
  std::error_code error;
  const fs::path root = fs::weakly_canonical(fs::absolute(context.backup_root), error);
  const fs::path path = fs::weakly_canonical(root / directory, error);
  const fs::path below = path.lexically_relative(root);
  if (error || below.empty() || *below.begin() == ".." || *below.begin() == ".") {
    return Fail(Code::kForbidden, "backup.outside_root",
                "'{}' does not lead below {}, the setting backup.root", directory, root.string());
  }
  return path.string();
}

void Backup(const Context& context, const Request& request, Response& response) {
  const Result<std::string> directory = BackupPath(context, request);
  if (!directory) return response.Error(directory.error());
  const Status done = context.database.operations().Backup(*directory);
  if (!done.ok()) return response.Error(done);
  response.Json(201, AnswerText(Value::Object({{"directory", *directory}})));
}

void ExpireNow(Context& context, Response& response) {
  const Result<uint64_t> expired = context.database.operations().ExpireNow();
  if (!expired) return response.Error(expired.error());
  response.Json(200, AnswerText(Value::Object({{"expired", Value::Unsigned(*expired)}})));
}

}  // namespace

Status AddOperationRoutes(Router& router, Context& context) {
  RETURN_IF_ERROR(router.Add({.method = Method::kGet,
                              .path = "/v1/status",
                              .summary = "The server's state in numbers",
                              .tag = "operation",
                              .parameters = {ThreadsParameter()},
                              .responses = {{200, "version, shards, sizes", Content{}}},
                              .auth = std::string(kMonitor),
                              .handler = Blocking([&context](Request& request, Response& response) {
                                ShowStatus(context, request, response);
                              })}));
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kPost,
       .path = "/v1/backup",
       .summary = "Copy everything to a new directory while the server runs",
       .tag = "operation",
       .request = Content{.description =
                              "an absolute path on the server's machine that does not exist yet",
                          .schema = R"({"type":"object","required":["directory"],"properties":)"
                                    R"({"directory":{"type":"string"}}})"},
       .responses = {{201, "the copy is complete", Content{}}, {409, "the directory exists"}},
       .auth = std::string(kAdmin),
       .handler = Blocking([&context](Request& request, Response& response) {
         Backup(context, request, response);
       })}));
  return router.Add({.method = Method::kPost,
                     .path = "/v1/admin/expire",
                     .summary = "Delete expired documents now",
                     .tag = "operation",
                     .description = "Reads never return expired documents; this frees their space.",
                     .responses = {{200, "how many were deleted", Content{}}},
                     .auth = std::string(kAdmin),
                     .handler = Blocking([&context](Request&, Response& response) {
                       ExpireNow(context, response);
                     })});
}

}  // namespace sluice::rest
