// Wakes followers after commits to the keyspaces that they follow. It listens to all shards for as
// long as it lives.
//
//   CommitWake wake(database);
//   subscription_ = wake.Subscribe(keyspaces, [this] { Wake(); });
//   Wake();  // for earlier commits
//
// Concurrency: any thread. A follower is called on a committer's thread, under the lock: it must
// only post, and must not drop a subscription. To drop a subscription waits for a running call;
// there is no call after that. A subscription may outlive the CommitWake and the database.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "db/commit.h"
#include "db/types.h"

namespace sluice::db {
class Database;
}

namespace sluice::follow {

// The source of commits: a database, or a fake.
class CommitSource {
 public:
  virtual ~CommitSource() = default;
  virtual uint16_t shard_count() const = 0;
  // See db::Database::OnCommitted.
  virtual std::shared_ptr<void> OnCommitted(db::ShardId shard, db::CommitListener listener) = 0;
};

class CommitWake {
 public:
  using Subscription = std::shared_ptr<void>;

  explicit CommitWake(db::Database& database);
  explicit CommitWake(CommitSource& source);
  ~CommitWake();  // waits for a running call; there is none after that
  CommitWake(const CommitWake&) = delete;
  CommitWake& operator=(const CommitWake&) = delete;

  // Calls `wake` after each group of commits that changed one of the keyspaces.
  [[nodiscard]] Subscription Subscribe(std::span<const db::KeyspaceId> keyspaces,
                                       std::function<void()> wake);
  // Calls `wake` after each group of commits, also after one that changed no document.
  [[nodiscard]] Subscription SubscribeToAll(db::CommitListener wake);

 private:
  struct Followers;

  void ListenTo(CommitSource& source);

  const std::shared_ptr<Followers> followers_;
  std::vector<std::shared_ptr<void>> listeners_;  // by shard
};

}  // namespace sluice::follow
