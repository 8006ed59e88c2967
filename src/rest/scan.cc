// GET /v1/docs/{keyspace}: the documents of a keyspace in key order, streamed as they are read from
// one snapshot.
//
//   {"documents":[{"key":...,"cas":...,"value":...},...],"next":"..."}
//
// or, with Accept: application/x-ndjson, one such document per line, without a limit. A document
// that can't be read in its current version has `error` instead of `cas` and `value`.
#include <memory>
#include <utility>

#include "db/sample.h"
#include "json/print.h"
#include "rest/access.h"
#include "rest/chunks.h"
#include "rest/document_http.h"
#include "rest/http_types.h"
#include "rest/routes.h"
#include "service/whole_reads.h"

namespace sluice::rest {
namespace {

constexpr int64_t kDefaultScanned = 100;
constexpr int64_t kMaxScanned = 10'000;
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
  bool raw = false;        // rows are read so, and those of deleted documents are left out here
  std::string schema;      // the version of their type's schema; empty for the current one
  bool revisions = false;  // after each document those that are kept of it
  bool sampled = false;    // some from all over the keyspace
  int64_t documents = 0;   // so many of them; 0: as many as is usual
  std::unique_ptr<db::DocumentCursor> sample;
  uint64_t remaining = 0;  // how many more documents are wanted
  bool first = true;
  bool finished = false;
  std::string next;  // where another request continues; empty when there is no more
};

Status ReadSample(const Request& request, Scan* scan) {
  for (const std::string_view other :
       {"from", "to", "prefix", "reverse", "limit", "revisions", "schema"}) {
    if (!request.Query(other)) continue;
    return Error(Code::kInvalidArgument, "http.bad_parameter",
                 "query parameter '{}': a sample is of the whole keyspace and takes no such", other)
        .With("parameter", std::string(other));
  }
  scan->sampled = true;
  if (*request.Query("sample") == "auto") return OkStatus();
  ASSIGN_OR_RETURN(scan->documents, request.QueryInt("sample", 0, 1, INT64_MAX));
  return OkStatus();
}

Result<Scan> ScanOf(const Context& context, const Request& request) {
  Scan scan;
  ASSIGN_OR_RETURN(scan.keyspace,
                   service::ResolveKeyspace(context.database, request.Param("keyspace"),
                                            service::Access::kRead));
  scan.options.from = request.Query("from").value_or("");
  scan.options.to = request.Query("to").value_or("");
  scan.options.prefix = request.Query("prefix").value_or("");
  ASSIGN_OR_RETURN(scan.options.reverse, request.QueryBool("reverse", false));
  ASSIGN_OR_RETURN(const bool keys_only, request.QueryBool("keys_only", false));
  if (keys_only) scan.values = RowValues::kOmit;
  ASSIGN_OR_RETURN(scan.stored, request.QueryBool("stored", false));
  ASSIGN_OR_RETURN(scan.revisions, request.QueryBool("revisions", false));
  scan.schema = request.Query("schema").value_or("");
  if (scan.stored && !scan.schema.empty()) {
    return Fail(Code::kInvalidArgument, "http.bad_parameter",
                "query parameter 'schema': documents as they are stored have no other version");
  }
  scan.raw = scan.stored || keys_only || !scan.schema.empty();
  scan.options.with_tombstones = scan.raw;
  if (request.Query("sample")) RETURN_IF_ERROR(ReadSample(request, &scan));
  const auto accept = request.FindHeader("Accept");
  if (accept && accept->find(kLinesType) != std::string_view::npos) scan.format = Format::kLines;
  if (scan.format == Format::kLines && !request.Query("limit")) {
    scan.remaining = UINT64_MAX;
  } else {
    const int64_t most = scan.format == Format::kLines ? INT64_MAX : kMaxScanned;
    ASSIGN_OR_RETURN(const int64_t limit, request.QueryInt("limit", kDefaultScanned, 1, most));
    scan.remaining = static_cast<uint64_t>(limit);
  }
  return scan;
}

template <typename Append>
void AppendRow(Scan* scan, std::string* chunk, const Append& append) {
  if (scan->format == Format::kObject) {
    if (!scan->first) chunk->push_back(',');
    chunk->append("\n");
  }
  scan->first = false;
  append();
  if (scan->format == Format::kLines) chunk->push_back('\n');
}

void AppendRow(Scan* scan, std::string_view key, const db::DocumentView& document,
               std::string* chunk) {
  AppendRow(scan, chunk, [&] { AppendDocumentRow(key, document, scan->values, chunk); });
}

// `document` is null for one that is deleted.
Status AppendRevisions(const Context& context, Scan* scan, std::string_view key,
                       const db::DocumentView* document, std::string* chunk) {
  const auto policy = context.database.read_forms().PolicyOf(scan->keyspace, nullptr);
  if (policy == nullptr) return OkStatus();
  ASSIGN_OR_RETURN(const auto revisions, context.database.revisions().List(scan->keyspace, key));
  for (const db::Revision& revision : revisions) {
    db::PinnedDocument kept;
    ASSIGN_OR_RETURN(const bool found, context.database.revisions().Get(scan->keyspace, key,
                                                                        revision.version, &kept));
    if (!found) continue;
    AppendRow(scan, policy->RevisionKey(key, document, revision.version), kept.view(), chunk);
  }
  return OkStatus();
}

// One chunk of a scan: takes documents, and keys of deleted documents that left revisions, each
// in key order.
class ScanChunk {
 public:
  ScanChunk(const Context& context, Scan* scan) : context_(context), scan_(scan) {}

  Result<std::string> Read() {
    if (scan_->revisions) RETURN_IF_ERROR(FindRevised());
    db::ScanOptions options = scan_->options;
    options.on_unreadable = [this](std::string_view key, const Status& why) {
      return TakeDeletedBefore(key) && Take(key, nullptr, why);
    };
    const Status read = context_.database.Scan(
        scan_->keyspace, options, [this](std::string_view key, const db::DocumentView& document) {
          if (scan_->raw && !document.LiveAt(scan_->snapshot->time_ms())) return true;
          if (!TakeDeletedBefore(key)) return false;
          return scan_->schema.empty() ? Take(key, &document) : TakeAtVersion(key, document);
        });
    if (!read.ok() && !ended_) return Unexpected(read);
    if (!ended_) TakeDeletedBefore(std::nullopt);
    RETURN_IF_ERROR(failed_);
    scan_->finished = !paused_;
    if (scan_->options.reverse) {
      if (!last_.empty()) scan_->options.to = last_;
    } else {
      scan_->options.from = last_ + '\0';
    }
    return std::move(text_);
  }

 private:
  // As many as a chunk may need.
  Status FindRevised() {
    return context_.database.revisions().ScanKeys(scan_->keyspace, scan_->options,
                                                  [this](std::string_view key) {
                                                    revised_.emplace_back(key);
                                                    return revised_.size() <= kChunkRows;
                                                  });
  }

  bool Before(std::string_view left, std::string_view right) const {
    return scan_->options.reverse ? left > right : left < right;
  }

  // All of them if there is no next document. False when the chunk is over.
  bool TakeDeletedBefore(std::optional<std::string_view> key) {
    for (; at_ < revised_.size(); ++at_) {
      if (key && revised_[at_] == *key) continue;
      if (key && !Before(revised_[at_], *key)) break;
      if (!Take(revised_[at_], nullptr)) return false;
    }
    return true;
  }

  // Of a deleted document only its revisions are there, of an unreadable one an error.
  bool Take(std::string_view key, const db::DocumentView* document, const Status& unreadable = {}) {
    if (scan_->remaining == 0) {
      scan_->next = scan_->options.reverse ? last_ : std::string(key);
      return End();
    }
    if (text_.size() >= kChunkBytes || rows_ == kChunkRows) {
      paused_ = true;
      return End();
    }
    if (document != nullptr) AppendRow(scan_, key, *document, &text_);
    if (!unreadable.ok()) {
      AppendRow(scan_, &text_, [&] { AppendUnreadableRow(key, unreadable, &text_); });
    }
    if (scan_->revisions) failed_ = AppendRevisions(context_, scan_, key, document, &text_);
    if (!failed_.ok()) return End();
    --scan_->remaining;
    ++rows_;
    last_ = key;
    return true;
  }

  bool TakeAtVersion(std::string_view key, db::DocumentView document) {
    const auto policy =
        context_.database.read_forms().PolicyOf(scan_->keyspace, scan_->snapshot.get());
    if (policy == nullptr) return Take(key, &document);
    const auto body = policy->AsRead(key, document, scan_->schema);
    if (!body) return Take(key, nullptr, body.error());
    if (*body) document.body = **body;
    return Take(key, &document);
  }

  bool End() {
    ended_ = true;
    return false;
  }

  const Context& context_;
  Scan* const scan_;
  std::string text_;
  std::string last_;
  std::vector<std::string> revised_;
  size_t at_ = 0;
  size_t rows_ = 0;
  bool paused_ = false;
  bool ended_ = false;
  Status failed_;
};

Result<std::string> SampleChunk(const Context& context, Scan* scan) {
  if (!scan->sample) {
    const uint64_t documents = scan->documents == 0
                                   ? db::UsualSample(context.database, scan->keyspace)
                                   : static_cast<uint64_t>(scan->documents);
    scan->sample =
        db::NewSampleCursor(context.database, scan->keyspace, documents, *scan->snapshot);
  }
  std::string text;
  for (size_t rows = 0; rows < kChunkRows && text.size() < kChunkBytes; ++rows) {
    if (!scan->sample->Next()) {
      scan->finished = true;
      RETURN_IF_ERROR(scan->sample->status());
      return text;
    }
    AppendRow(scan, scan->sample->key(), scan->sample->document(), &text);
  }
  return text;
}

// Reads on from where the last chunk ended.
Result<std::string> NextScanChunk(const Context& context, Scan* scan) {
  if (!scan->snapshot) scan->snapshot = context.database.NewSnapshot();
  scan->options.snapshot = scan->snapshot.get();
  if (scan->sampled) return SampleChunk(context, scan);
  return ScanChunk(context, scan).Read();
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
  const bool whole = !scan->sampled && scan->values == RowValues::kInclude;  // samples are advice's
  if (whole) service::NoteWholeRead(context.database, scan->keyspace);
  bool started = false;
  while (!scan->finished) {
    Result<Result<std::string>> chunk =
        co_await RunBlocking(request.exchange(), [&] { return NextScanChunk(context, &*scan); });
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
             .description = "the stored documents, not the current version of their type",
             .type = "boolean"},
            {.name = "schema",
             .description = "in this version of their type's schema, not in the current one"},
            {.name = "revisions",
             .description = "after each document its revisions, also those of deleted documents",
             .type = "boolean"},
            {.name = "sample",
             .description = "this many random stored documents, without a limit. auto: all of up "
                            "to a million documents or 1 GB, otherwise 10000"}},
       .responses = {{200, "the documents", Content{}}},
       .auth = std::string(kReadKeyspace),
       .handler = [&context](Request& request, Response& response) -> Task<> {
         return ScanDocuments(context, request, response);
       }});
}

}  // namespace sluice::rest
