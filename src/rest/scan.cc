// GET /v1/docs/{keyspace}: the documents of a keyspace in key order, streamed as they are read from
// one snapshot.
//
//   {"documents":[{"key":...,"cas":...,"value":...},...],"next":"..."}
//
// or, with Accept: application/x-ndjson, one such document per line, without a limit. A document
// that can't be read in its current version has `error` instead of `cas` and `value`.
#include <string>
#include <utility>

#include "json/print.h"
#include "rest/access.h"
#include "rest/chunks.h"
#include "rest/document_http.h"
#include "rest/http_types.h"
#include "rest/routes.h"
#include "service/document_scan.h"

namespace sluice::rest {
namespace {

constexpr int64_t kDefaultScanned = 100;
constexpr int64_t kMaxScanned = 10'000;
constexpr std::string_view kLinesType = "application/x-ndjson";

enum class Format : uint8_t { kObject, kLines };

struct WantedScan {
  service::ScanRequest request;
  Format format = Format::kObject;
};

Status ReadSample(const Request& request, service::ScanRequest* scan) {
  for (const std::string_view other :
       {"from", "to", "prefix", "reverse", "limit", "revisions", "schema"}) {
    if (!request.Query(other)) continue;
    return Error(Code::kInvalidArgument, "http.bad_parameter",
                 "query parameter '{}': a sample is of the whole keyspace and takes no such", other)
        .With("parameter", std::string(other));
  }
  scan->sampled = true;
  if (*request.Query("sample") == "auto") return OkStatus();
  ASSIGN_OR_RETURN(const int64_t documents, request.QueryInt("sample", 0, 1, INT64_MAX));
  scan->sample = static_cast<uint64_t>(documents);
  return OkStatus();
}

Result<WantedScan> ScanOf(const Context& context, const Request& request) {
  WantedScan wanted;
  service::ScanRequest& scan = wanted.request;
  ASSIGN_OR_RETURN(scan.keyspace,
                   service::ResolveKeyspace(context.database, request.Param("keyspace"),
                                            service::Access::kRead));
  scan.range.from = request.Query("from").value_or("");
  scan.range.to = request.Query("to").value_or("");
  scan.range.prefix = request.Query("prefix").value_or("");
  ASSIGN_OR_RETURN(scan.range.reverse, request.QueryBool("reverse", false));
  ASSIGN_OR_RETURN(scan.keys_only, request.QueryBool("keys_only", false));
  ASSIGN_OR_RETURN(scan.stored, request.QueryBool("stored", false));
  ASSIGN_OR_RETURN(scan.revisions, request.QueryBool("revisions", false));
  scan.schema = request.Query("schema").value_or("");
  if (scan.stored && !scan.schema.empty()) {
    return Fail(Code::kInvalidArgument, "http.bad_parameter",
                "query parameter 'schema': documents as they are stored have no other version");
  }
  if (request.Query("sample")) RETURN_IF_ERROR(ReadSample(request, &scan));
  const auto accept = request.FindHeader("Accept");
  const bool lines = accept && accept->find(kLinesType) != std::string_view::npos;
  if (lines) wanted.format = Format::kLines;
  if (!lines || request.Query("limit")) {
    const int64_t most = lines ? INT64_MAX : kMaxScanned;
    ASSIGN_OR_RETURN(const int64_t limit, request.QueryInt("limit", kDefaultScanned, 1, most));
    scan.limit = static_cast<uint64_t>(limit);
  }
  return wanted;
}

// The rows of an answer, chunk by chunk.
class ScanRows final : public service::ScanSink {
 public:
  ScanRows(Format format, RowValues values) : format_(format), values_(values) {}

  void OnDocument(std::string_view key, const db::DocumentView& document) override {
    Begin();
    AppendDocumentRow(key, document, values_, &text_);
    End();
  }
  void OnUnreadable(std::string_view key, const Status& why) override {
    Begin();
    AppendUnreadableRow(key, why, &text_);
    End();
  }
  bool full() const override { return text_.size() >= kChunkBytes; }

  std::string Take() { return std::exchange(text_, {}); }

 private:
  void Begin() {
    if (format_ == Format::kObject) text_ += std::exchange(first_, false) ? "\n" : ",\n";
  }
  void End() {
    if (format_ == Format::kLines) text_ += '\n';
  }

  const Format format_;
  const RowValues values_;
  std::string text_;
  bool first_ = true;
};

std::string TailOf(const service::DocumentScan& scan) {
  std::string tail = "\n]";
  if (!scan.next().empty()) {
    tail += R"(,"next":)";
    json::AppendQuoted(scan.next(), &tail);
  }
  tail += "}\n";
  return tail;
}

Task<> ScanDocuments(Context& context, Request& request, Response& response) {
  Result<WantedScan> wanted = ScanOf(context, request);
  if (!wanted) co_return response.Error(wanted.error());
  const Format format = wanted->format;
  ScanRows rows(format, wanted->request.keys_only ? RowValues::kOmit : RowValues::kInclude);
  service::DocumentScan scan(context.database, std::move(wanted->request));
  bool started = false;
  while (!scan.finished()) {
    const Result<Status> read =
        co_await RunBlocking(request.exchange(), [&] { return scan.Next(rows); });
    const Status failed = !read ? read.error() : *read;
    if (!failed.ok()) {
      if (!started) co_return response.Error(failed);
      co_return response.Abort(failed);
    }
    std::string out = rows.Take();
    if (!started) {
      response.set_content_type(format == Format::kLines ? kLinesType : "application/json");
      if (format == Format::kObject) out.insert(0, R"({"documents":[)");
      started = true;
    }
    if (scan.finished() && format == Format::kObject) out += TailOf(scan);
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
