#include "db/sample.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/database.h"
#include "db/stored_cursor.h"

namespace sluice::db {
namespace {

constexpr size_t kMaxParts = 64;

class SampleCursor final : public DocumentCursor {
 public:
  SampleCursor(const Database& database, KeyspaceId keyspace, uint64_t documents,
               const DatabaseSnapshot& snapshot)
      : database_(database), keyspace_(keyspace), snapshot_(snapshot), left_(documents) {
    if (CountUpTo(documents + 1) > documents) {
      starts_ = database.SplitPoints(keyspace, std::min<uint64_t>(kMaxParts, documents));
      if (starts_.empty()) stride_ = (CountUpTo(UINT64_MAX) + documents - 1) / documents;
    }
    starts_.insert(starts_.begin(), "");
    Open();
  }

  bool Next() override {
    while (cursor_) {
      if (part_left_ == 0 || !cursor_->Next()) {
        if (!cursor_->status().ok()) return false;
        NextPart();
        continue;
      }
      if (!cursor_->document().LiveAt(snapshot_.time_ms())) continue;
      if (seen_++ % stride_ != 0) continue;
      --part_left_;
      --left_;
      return true;
    }
    return false;
  }
  std::string_view key() const override { return cursor_->key(); }
  const DocumentView& document() const override { return cursor_->document(); }
  Status status() const override { return cursor_ ? cursor_->status() : OkStatus(); }

 private:
  uint64_t CountUpTo(uint64_t most) const {
    StoredDocumentCursor all(database_, keyspace_, {}, &snapshot_,
                             StoredDocumentCursor::Rows::kAll);
    uint64_t count = 0;
    while (count < most && all.Next()) {
      if (all.document().LiveAt(snapshot_.time_ms())) ++count;
    }
    return count;
  }

  // What the parts before did not have is left to those that follow.
  void Open() {
    DocumentRange range;
    range.from = starts_[part_];
    if (part_ + 1 < starts_.size()) range.to = starts_[part_ + 1];
    const uint64_t parts = starts_.size() - part_;
    part_left_ = (left_ + parts - 1) / parts;
    cursor_.emplace(database_, keyspace_, range, &snapshot_, StoredDocumentCursor::Rows::kAll);
  }

  void NextPart() {
    ++part_;
    if (part_ < starts_.size() && left_ > 0) return Open();
    cursor_.reset();
  }

  const Database& database_;
  const KeyspaceId keyspace_;
  const DatabaseSnapshot& snapshot_;
  std::vector<std::string> starts_;
  uint64_t stride_ = 1;
  uint64_t left_;
  uint64_t part_left_ = 0;
  uint64_t seen_ = 0;
  size_t part_ = 0;
  std::optional<StoredDocumentCursor> cursor_;
};

}  // namespace

std::unique_ptr<DocumentCursor> NewSampleCursor(const Database& database, KeyspaceId keyspace,
                                                uint64_t documents,
                                                const DatabaseSnapshot& snapshot) {
  return std::make_unique<SampleCursor>(database, keyspace, std::max<uint64_t>(1, documents),
                                        snapshot);
}

}  // namespace sluice::db
