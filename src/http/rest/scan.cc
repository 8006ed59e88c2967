// GET /v1/docs/{keyspace}: the documents of a keyspace in key order, streamed as they are read from
// one snapshot.
//
//   {"documents":[{"key":...,"cas":...,"value":...},...],"next":"..."}
//
// or, with Accept: application/x-ndjson, one such document per line, without a limit.
#include <memory>
#include <utility>

#include "http/rest/access.h"
#include "http/rest/chunks.h"
#include "http/rest/document_http.h"
#include "http/rest/routes.h"
#include "http/worker_pool.h"
#include "json/print.h"

namespace sluice::http::rest {
namespace {

constexpr int64_t kDefaultLimit = 100;
constexpr int64_t kMaxLimit = 10'000;
constexpr std::string_view kLinesType = "application/x-ndjson";

enum class Format : uint8_t { kObject, kLines };

// A scan in progress; one worker at a time fills the next chunk.
struct Scan {
  db::KeyspaceId keyspace = 0;
  db::ScanOptions options;
  std::unique_ptr<db::DatabaseSnapshot> snapshot;
  RowValues values = RowValues::kInclude;
  Format format = Format::kObject;
  bool stored = false;     // as they are stored, not as their types have them read
  bool revisions = false;  // after each document those that are kept of it
  uint64_t remaining = 0;  // how many more documents are wanted
  bool first = true;
  bool finished = false;
  std::string next;  // where another request continues; empty when there is no more
};

Result<Scan> ScanOf(const Context& context, const Request& request) {
  Scan scan;
  ASSIGN_OR_RETURN(scan.keyspace, ResolveKeyspace(context, request.Param("keyspace")));
  scan.options.from = request.Query("from").value_or("");
  scan.options.to = request.Query("to").value_or("");
  scan.options.prefix = request.Query("prefix").value_or("");
  ASSIGN_OR_RETURN(scan.options.reverse, request.QueryBool("reverse", false));
  ASSIGN_OR_RETURN(const bool keys_only, request.QueryBool("keys_only", false));
  if (keys_only) scan.values = RowValues::kOmit;
  ASSIGN_OR_RETURN(scan.stored, request.QueryBool("stored", false));
  ASSIGN_OR_RETURN(scan.revisions, request.QueryBool("revisions", false));
  scan.options.with_tombstones = scan.stored;
  const auto accept = request.FindHeader("Accept");
  if (accept && accept->find(kLinesType) != std::string_view::npos) scan.format = Format::kLines;
  if (scan.format == Format::kLines && !request.Query("limit")) {
    scan.remaining = UINT64_MAX;
  } else {
    const int64_t most = scan.format == Format::kLines ? INT64_MAX : kMaxLimit;
    ASSIGN_OR_RETURN(const int64_t limit, request.QueryInt("limit", kDefaultLimit, 1, most));
    scan.remaining = static_cast<uint64_t>(limit);
  }
  return scan;
}

void AppendRow(Scan* scan, std::string_view key, const db::DocumentView& document,
               std::string* chunk) {
  if (scan->format == Format::kObject) {
    if (!scan->first) chunk->push_back(',');
    chunk->append("\n");
  }
  scan->first = false;
  AppendDocumentRow(key, document, scan->values, chunk);
  if (scan->format == Format::kLines) chunk->push_back('\n');
}

Status AppendRevisions(const Context& context, Scan* scan, std::string_view key,
                       const db::DocumentView& document, std::string* chunk) {
  const auto policy = context.database.PolicyOf(scan->keyspace, nullptr);
  if (policy == nullptr) return OkStatus();
  ASSIGN_OR_RETURN(const auto revisions, context.database.Revisions(scan->keyspace, key));
  for (const db::Revision& revision : revisions) {
    db::PinnedDocument kept;
    ASSIGN_OR_RETURN(const bool found,
                     context.database.GetRevision(scan->keyspace, key, revision.version, &kept));
    if (!found) continue;
    AppendRow(scan, policy->RevisionKey(key, &document, revision.version), kept.view(), chunk);
  }
  return OkStatus();
}

// Reads on from where the last chunk ended.
Result<std::string> NextChunk(const Context& context, Scan* scan) {
  if (!scan->snapshot) scan->snapshot = context.database.NewSnapshot();
  scan->options.snapshot = scan->snapshot.get();
  std::string chunk;
  std::string last;
  size_t rows = 0;
  bool paused = false;
  Status failed;
  RETURN_IF_ERROR(context.database.Scan(
      scan->keyspace, scan->options, [&](std::string_view key, const db::DocumentView& document) {
        if (scan->stored && !document.LiveAt(scan->snapshot->time_ms())) return true;
        if (scan->remaining == 0) {
          scan->next = scan->options.reverse ? last : std::string(key);
          return false;
        }
        if (chunk.size() >= kChunkBytes || rows == kChunkRows) {
          paused = true;
          return false;
        }
        AppendRow(scan, key, document, &chunk);
        if (scan->revisions) failed = AppendRevisions(context, scan, key, document, &chunk);
        if (!failed.ok()) return false;
        --scan->remaining;
        ++rows;
        last = key;
        return true;
      }));
  RETURN_IF_ERROR(failed);
  scan->finished = !paused;
  if (scan->options.reverse) {
    scan->options.to = last;
  } else {
    scan->options.from = last + '\0';
  }
  return chunk;
}

std::string TailOf(const Scan& scan) {
  if (scan.format == Format::kLines) return "";
  std::string tail = "\n]";
  if (!scan.next.empty()) {
    tail += R"(,"next":)";
    json::AppendQuoted(scan.next, &tail);
  }
  tail += "}\n";
  return tail;
}

Task<> ScanDocuments(Context& context, Request& request, Response& response) {
  Result<Scan> scan = ScanOf(context, request);
  if (!scan) co_return response.Error(scan.error());
  bool started = false;
  while (!scan->finished) {
    Result<Result<std::string>> chunk =
        co_await RunBlocking(request, [&] { return NextChunk(context, &*scan); });
    const Status failed = !chunk ? chunk.error() : !*chunk ? chunk->error() : OkStatus();
    if (!failed.ok()) {
      if (!started) co_return response.Error(failed);
      co_return response.Abort(failed);
    }
    std::string out = std::move(**chunk);
    if (!started) {
      response.set_content_type(scan->format == Format::kLines ? kLinesType : "application/json");
      if (scan->format == Format::kObject) out.insert(0, R"({"documents":[)");
      started = true;
    }
    if (scan->finished) out += TailOf(*scan);
    const Status sent = co_await response.Write(out);
    if (!sent.ok()) co_return;
  }
}

}  // namespace

Status AddScanRoutes(Router& router, Context& context) {
  return router.Add(
      {.method = Method::kGet,
       .path = "/v1/docs/{keyspace}",
       .summary = "Read the documents of a keyspace in key order",
       .tag = "documents",
       .description =
           "From one snapshot, streamed. `next` continues: as `from`, or with `reverse` as `to`. "
           "With Accept: application/x-ndjson, one document per line and no limit.",
       .parameters =
           {{.name = "prefix", .description = "only keys that begin with this"},
            {.name = "from", .description = "first key, inclusive"},
            {.name = "to", .description = "last key, exclusive"},
            {.name = "limit", .description = "100 if not given, at most 10000", .type = "integer"},
            {.name = "keys_only", .description = "no values", .type = "boolean"},
            {.name = "reverse", .description = "from the end", .type = "boolean"},
            {.name = "stored",
             .description = "as they are stored, not in the current version of their type",
             .type = "boolean"},
            {.name = "revisions",
             .description = "after each document the revisions that are kept of it",
             .type = "boolean"}},
       .responses = {{200, "the documents", Content{}}},
       .auth = std::string(kReadKeyspace),
       .handler = [&context](Request& request, Response& response) -> Task<> {
         return ScanDocuments(context, request, response);
       }});
}

}  // namespace sluice::http::rest
