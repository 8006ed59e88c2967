#include "service/document_scan.h"

#include <optional>
#include <utility>
#include <vector>

#include "service/whole_reads.h"

namespace sluice::service {

// One part of a scan: takes documents, and keys of deleted documents that left revisions, each in
// key order.
class DocumentScan::Part {
 public:
  Part(DocumentScan& scan, ScanSink& sink)
      : scan_(scan), request_(scan.request_), database_(scan.database_), sink_(sink) {}

  Status Read() {
    if (request_.revisions) RETURN_IF_ERROR(FindRevised());
    db::ScanOptions options = request_.range;
    options.on_unreadable = [this](std::string_view key, const Status& why) {
      return TakeDeletedBefore(key) && Take(key, nullptr, why);
    };
    const Status read = database_.Scan(
        request_.keyspace, options, [this](std::string_view key, const db::DocumentView& document) {
          if (scan_.raw_ && !document.LiveAt(scan_.snapshot_->time_ms())) return true;
          if (!TakeDeletedBefore(key)) return false;
          return request_.schema.empty() ? Take(key, &document) : TakeAtVersion(key, document);
        });
    if (!read.ok() && !ended_) return read;
    if (!ended_) TakeDeletedBefore(std::nullopt);
    RETURN_IF_ERROR(failed_);
    scan_.finished_ = !paused_;
    if (request_.range.reverse) {
      if (!last_.empty()) request_.range.to = last_;
    } else {
      request_.range.from = last_ + '\0';
    }
    return OkStatus();
  }

 private:
  // As many as a part may need.
  Status FindRevised() {
    return database_.revisions().ScanKeys(request_.keyspace, request_.range,
                                          [this](std::string_view key) {
                                            revised_.emplace_back(key);
                                            return revised_.size() <= kPartRows;
                                          });
  }

  bool Before(std::string_view left, std::string_view right) const {
    return request_.range.reverse ? left > right : left < right;
  }

  // All of them if there is no next document. False when the part is over.
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
    if (scan_.remaining_ == 0) {
      scan_.next_ = request_.range.reverse ? last_ : std::string(key);
      return End();
    }
    if (sink_.full() || rows_ == kPartRows) {
      paused_ = true;
      return End();
    }
    if (document != nullptr) sink_.OnDocument(key, *document);
    if (!unreadable.ok()) sink_.OnUnreadable(key, unreadable);
    if (request_.revisions) failed_ = GiveRevisions(key, document);
    if (!failed_.ok()) return End();
    --scan_.remaining_;
    ++rows_;
    last_ = key;
    return true;
  }

  bool TakeAtVersion(std::string_view key, db::DocumentView document) {
    const auto policy = database_.read_forms().PolicyOf(request_.keyspace, scan_.snapshot_.get());
    if (policy == nullptr) return Take(key, &document);
    const auto body = policy->AsRead(key, document, request_.schema);
    if (!body) return Take(key, nullptr, body.error());
    if (*body) document.body = **body;
    return Take(key, &document);
  }

  // `document` is null for one that is deleted.
  Status GiveRevisions(std::string_view key, const db::DocumentView* document) {
    const auto policy = database_.read_forms().PolicyOf(request_.keyspace, nullptr);
    if (policy == nullptr) return OkStatus();
    ASSIGN_OR_RETURN(const auto revisions, database_.revisions().List(request_.keyspace, key));
    for (const db::Revision& revision : revisions) {
      db::PinnedDocument kept;
      ASSIGN_OR_RETURN(const bool found,
                       database_.revisions().Get(request_.keyspace, key, revision.version, &kept));
      if (!found) continue;
      sink_.OnDocument(policy->RevisionKey(key, document, revision.version), kept.view());
    }
    return OkStatus();
  }

  bool End() {
    ended_ = true;
    return false;
  }

  DocumentScan& scan_;
  ScanRequest& request_;
  const db::Database& database_;
  ScanSink& sink_;
  std::string last_;
  std::vector<std::string> revised_;
  size_t at_ = 0;
  size_t rows_ = 0;
  bool paused_ = false;
  bool ended_ = false;
  Status failed_;
};

DocumentScan::DocumentScan(const db::Database& database, ScanRequest request)
    : database_(database),
      request_(std::move(request)),
      raw_(request_.stored || request_.keys_only || !request_.schema.empty()),
      remaining_(request_.limit) {
  request_.range.with_tombstones = raw_;
  // Samples are read for advice, which they should not change.
  if (!request_.sampled && !request_.keys_only) NoteWholeRead(database_, request_.keyspace);
}

Status DocumentScan::Next(ScanSink& sink) {
  if (!snapshot_) snapshot_ = database_.NewSnapshot();
  request_.range.snapshot = snapshot_.get();
  if (request_.sampled) return NextOfSample(sink);
  return Part(*this, sink).Read();
}

Status DocumentScan::NextOfSample(ScanSink& sink) {
  if (!sample_) {
    const uint64_t documents =
        request_.sample == 0 ? db::UsualSample(database_, request_.keyspace) : request_.sample;
    sample_ = db::NewSampleCursor(database_, request_.keyspace, documents, *snapshot_);
  }
  for (size_t rows = 0; rows < kPartRows && !sink.full(); ++rows) {
    if (!sample_->Next()) {
      finished_ = true;
      return sample_->status();
    }
    sink.OnDocument(sample_->key(), sample_->document());
  }
  return OkStatus();
}

}  // namespace sluice::service
