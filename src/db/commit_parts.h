// A commit over several shards, divided into its parts: what is in one shard is a commit of that
// shard. Rows and cursors are in the shard that the commit names.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "db/commit.h"
#include "db/types.h"

namespace sluice::db {

// The shards that a commit reads or writes; its own one if it does neither.
std::set<ShardId> ShardsOf(const Commit& commit, uint16_t shards);

struct CommitPart {
  Commit commit;
  std::vector<size_t> places;  // of its writes among those of the whole commit

  // Whether it only has conditions.
  bool OnlyReads() const;
};

using CommitParts = std::map<ShardId, CommitPart>;
CommitParts Divide(Commit commit, uint16_t shards);

// The result of one part goes into that of the whole commit, which has as many writes as the commit
// had. A failure of a part is one of the commit.
void AddResult(const CommitPart& part, CommitResult result, CommitResult* whole);

}  // namespace sluice::db
