// The owner of a shard that a database does not own, for tests.
#pragma once

#include <utility>

#include "base/check.h"
#include "db/database_impl.h"

namespace sluice::db {

// Commits in a shard that the database does not own, as a server would that owns it, and then feeds
// the database.
class OtherOwner {
 public:
  static CommitResult Apply(Database& database, Commit commit) {
    Committer& committer = *database.impl_->committers[commit.shard];
    CHECK(!committer.owns());
    CHECK(committer.Start().ok());
    CommitResult result = committer.Apply(std::move(commit));
    committer.BecomeStandby();
    return result;
  }
};

}  // namespace sluice::db
