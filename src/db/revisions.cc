#include "db/revisions.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "db/document.h"

namespace sluice::db {
namespace {

constexpr uint8_t kListVersion = 1;

}  // namespace

Result<RevisionList> RevisionList::Decode(std::string_view stored) {
  RevisionList list;
  ByteReader reader(stored);
  const bool known = reader.U8() == kListVersion;
  const uint64_t count = reader.Varint();
  Revision last;
  bool ascending = true;
  for (uint64_t i = 0; known && reader.ok() && i < std::min<uint64_t>(count, kMaxRevisions); ++i) {
    const uint64_t step = reader.Varint();
    ascending = ascending && step > 0;
    last.version += step;
    last.made_ms = reader.Varint();
    if (i == 0) list.revisions_.reserve(std::min<uint64_t>(count, kMaxRevisions) + 1);
    list.revisions_.push_back(last);
  }
  if (!known || !reader.ok() || !reader.AtEnd() || !ascending || list.revisions_.size() != count) {
    return Fail(Code::kCorruption, "revision.corrupt", "a stored list of revisions is malformed");
  }
  return list;
}

std::string RevisionList::Encode() const {
  constexpr size_t kMostBytesEach = 16;  // of most: small steps, times of this century
  std::string stored;
  stored.reserve(kMostBytesEach * (1 + revisions_.size()));
  AppendU8(&stored, kListVersion);
  AppendVarint(&stored, revisions_.size());
  uint64_t before = 0;
  for (const Revision& revision : revisions_) {
    AppendVarint(&stored, revision.version - before);
    AppendVarint(&stored, revision.made_ms);
    before = revision.version;
  }
  return stored;
}

bool RevisionList::Has(uint64_t version) const {
  return std::ranges::binary_search(revisions_, version, {}, &Revision::version);
}

void RevisionList::Add(uint64_t version, uint64_t now_ms) {
  CHECK(version > last());
  revisions_.push_back({version, now_ms});
}

std::vector<Revision> RevisionList::Trim(const RevisionLimits& limits, uint64_t now_ms) {
  const size_t keep =
      limits.keep == 0 ? kMaxRevisions : std::min<size_t>(limits.keep, kMaxRevisions);
  const size_t too_many = revisions_.size() > keep ? revisions_.size() - keep : 0;
  const uint64_t oldest =
      limits.max_age_ms > 0 && now_ms > limits.max_age_ms ? now_ms - limits.max_age_ms : 0;
  std::vector<Revision> removed;
  size_t kept = 0;
  for (size_t i = 0; i < revisions_.size(); ++i) {
    if (i < too_many || revisions_[i].made_ms < oldest) {
      removed.push_back(revisions_[i]);
    } else {
      revisions_[kept++] = revisions_[i];
    }
  }
  revisions_.resize(kept);
  return removed;
}

std::string RevisionRowKey(ShardId shard, KeyspaceId keyspace, std::string_view key,
                           uint64_t version) {
  std::string row = DocumentKey(shard, keyspace, key);
  AppendU64(&row, version);
  return row;
}

std::string_view RevisedRowKey(std::string_view revision_row_key) {
  CHECK(revision_row_key.size() > sizeof(uint64_t));
  return revision_row_key.substr(0, revision_row_key.size() - sizeof(uint64_t));
}

}  // namespace sluice::db
