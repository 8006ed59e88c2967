#include "db/sample.h"

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "db/database.h"
#include "db/database_impl.h"
#include "db/row.h"
#include "db/stored_cursor.h"

namespace sluice::db {
namespace {

constexpr size_t kMaxParts = 64;
constexpr uint64_t kUsualDocuments = 10'000;
constexpr uint64_t kAllBytes = 1'000'000'000;
// Searches for each wanted key: a search may find a key that was taken before.
constexpr size_t kMaxTriesPerKey = 4;
constexpr uint64_t kSeed = 18;

// Chooses keys at random, out of too many to read them all.
class KeyChooser {
 public:
  KeyChooser(const Database& database, KeyspaceId keyspace, const DatabaseSnapshot& snapshot)
      : database_(database), keyspace_(keyspace), snapshot_(snapshot) {}

  std::set<std::string> Choose(uint64_t documents) {
    std::vector<std::string> starts =
        database_.estimates().SplitPoints(keyspace_, std::min<uint64_t>(kMaxParts, documents));
    starts.insert(starts.begin(), "");
    std::set<std::string> keys;
    for (size_t part = 0; part < starts.size(); ++part) {
      const uint64_t parts = starts.size() - part;
      const uint64_t wanted = (documents - keys.size() + parts - 1) / parts;
      AddPart(starts[part], part + 1 < starts.size() ? starts[part + 1] : "", wanted, &keys);
    }
    return keys;
  }

 private:
  void AddPart(const std::string& from, const std::string& to, uint64_t wanted,
               std::set<std::string>* keys) {
    const size_t full = keys->size() + wanted;
    for (uint64_t tries = 0; tries < wanted * kMaxTriesPerKey && keys->size() < full; ++tries) {
      if (auto key = Walk(from, to)) keys->insert(std::move(*key));
    }
  }

  // The first key of a range, or the last one.
  std::optional<std::string> Find(const std::string& from, const std::string& to, bool last) const {
    DocumentRange range;
    range.from = from;
    range.to = to;
    range.reverse = last;
    StoredDocumentCursor cursor(database_, keyspace_, range, &snapshot_,
                                StoredDocumentCursor::Rows::kAll);
    if (!cursor.Next()) return std::nullopt;
    return std::string(cursor.key());
  }

  // Goes down from the range: takes one of the next possible bytes at random, then the first key
  // from there on, until only one key is left.
  std::optional<std::string> Walk(std::string from, std::string to) {
    auto first = Find(from, to, false);
    auto last = Find(from, to, true);
    while (first && last && *first != *last) {
      size_t depth = 0;
      while (depth < std::min(first->size(), last->size()) && (*first)[depth] == (*last)[depth]) {
        ++depth;
      }
      if (depth == first->size() && chance_() % 2 == 0) return first;  // others go on from it
      const std::string stem = last->substr(0, depth);
      const int low = depth < first->size() ? static_cast<unsigned char>((*first)[depth]) : 0;
      const int high = static_cast<unsigned char>((*last)[depth]);
      const int byte = std::uniform_int_distribution<int>(low, high)(chance_);
      from = std::max(*first, stem + static_cast<char>(byte));
      if (from == *first && depth == first->size()) from.push_back('\0');
      first = Find(from, to, false);
      if (!first) return std::nullopt;
      const std::string branch = first->substr(0, depth + 1);
      const std::string end = PrefixEnd(branch);
      if (to.empty() || (!end.empty() && end < to)) to = end;
      last = Find(*first, to, true);
    }
    return first;
  }

  const Database& database_;
  const KeyspaceId keyspace_;
  const DatabaseSnapshot& snapshot_;
  std::mt19937_64 chance_{kSeed};
};

class SampleCursor final : public DocumentCursor {
 public:
  SampleCursor(const Database& database, KeyspaceId keyspace, uint64_t documents,
               const DatabaseSnapshot& snapshot, uint64_t counted)
      : database_(database), keyspace_(keyspace), snapshot_(snapshot), wanted_(documents) {
    if (documents != kAllDocuments) {
      const uint64_t most = std::max(documents, counted);
      left_ = CountUpTo(most == UINT64_MAX ? most : most + 1);
      if (left_ > most) {
        keys_ = KeyChooser(database, keyspace, snapshot).Choose(documents);
        chosen_ = keys_.begin();
        return;
      }
    }
    Open({});
  }

  bool Next() override { return keys_.empty() ? NextByChance() : NextChosen(); }
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

  void Open(const DocumentRange& range) {
    cursor_.emplace(database_, keyspace_, range, &snapshot_, StoredDocumentCursor::Rows::kAll);
  }

  bool NextLive() {
    while (cursor_->Next()) {
      if (cursor_->document().LiveAt(snapshot_.time_ms())) return true;
    }
    return false;
  }

  // Each of the remaining documents is taken with the same probability.
  bool NextByChance() {
    while (wanted_ > 0 && NextLive()) {
      if (wanted_ == kAllDocuments) return true;
      const bool take = wanted_ >= left_ ||
                        std::uniform_int_distribution<uint64_t>(0, left_ - 1)(chance_) < wanted_;
      --left_;
      if (!take) continue;
      --wanted_;
      return true;
    }
    return false;
  }

  bool NextChosen() {
    for (; chosen_ != keys_.end(); ++chosen_) {
      DocumentRange range;
      range.from = *chosen_;
      range.to = *chosen_ + '\0';
      Open(range);
      if (NextLive()) {
        ++chosen_;
        return true;
      }
      if (!cursor_->status().ok()) return false;
    }
    return false;
  }

  const Database& database_;
  const KeyspaceId keyspace_;
  const DatabaseSnapshot& snapshot_;
  uint64_t wanted_;
  uint64_t left_ = 0;           // documents that were not looked at
  std::set<std::string> keys_;  // of a large keyspace
  std::set<std::string>::const_iterator chosen_;
  std::mt19937_64 chance_{kSeed};
  std::optional<StoredDocumentCursor> cursor_;
};

}  // namespace

std::unique_ptr<DocumentCursor> NewSampleCursor(const Database& database, KeyspaceId keyspace,
                                                uint64_t documents,
                                                const DatabaseSnapshot& snapshot,
                                                uint64_t counted) {
  return std::make_unique<SampleCursor>(database, keyspace, std::max<uint64_t>(1, documents),
                                        snapshot, counted);
}

uint64_t UsualSample(const Database& database, KeyspaceId keyspace) {
  uint64_t bytes = 0;
  for (ShardId shard = 0; shard < database.shard_count(); ++shard) {
    const std::string prefix = KeyspacePrefix(shard, keyspace);
    bytes += StoreOf(database).EstimateBytes(storage::Family::kDocs, prefix, PrefixEnd(prefix));
  }
  const bool all = bytes <= kAllBytes && database.estimates().Rows(keyspace) <= kCountedDocuments;
  return all ? kAllDocuments : kUsualDocuments;
}

}  // namespace sluice::db
