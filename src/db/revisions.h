// Revisions: earlier versions of documents (docs/formats/revisions.md). They have a family of their
// own, in the shard of their document: scans, indexes and feeds never read them. Each document has
// a list of its revisions, so that a commit can keep to the limits with one read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "db/document_policy.h"
#include "db/types.h"

namespace sluice::db {

// The most revisions of one document, also if its type has no limit.
inline constexpr size_t kMaxRevisions = 1000;

struct Revision {
  uint64_t version = 0;
  uint64_t made_ms = 0;  // when its successor was written

  bool operator==(const Revision&) const = default;
};

class RevisionList {
 public:
  static Result<RevisionList> Decode(std::string_view stored);
  std::string Encode() const;

  bool empty() const { return revisions_.empty(); }
  const std::vector<Revision>& revisions() const { return revisions_; }  // by version
  uint64_t last() const { return empty() ? 0 : revisions_.back().version; }
  bool Has(uint64_t version) const;

  // `version` is above all others.
  void Add(uint64_t version, uint64_t now_ms);
  // Remove revisions and return them: all, or those that the limits do not allow.
  std::vector<Revision> Clear() { return std::exchange(revisions_, {}); }
  std::vector<Revision> Trim(const RevisionLimits& limits, uint64_t now_ms);

 private:
  std::vector<Revision> revisions_;
};

// Keys of the revision family. The list is version 0.
std::string RevisionRowKey(ShardId shard, KeyspaceId keyspace, std::string_view key,
                           uint64_t version);
inline constexpr uint64_t kRevisionListVersion = 0;
// The key of the document's own row, from the key of one of its revisions.
std::string_view RevisedRowKey(std::string_view revision_row_key);

}  // namespace sluice::db
