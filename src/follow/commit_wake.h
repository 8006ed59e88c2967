// Wakes followers when something that they follow was committed. It listens to all shards for as
// long as it lives.
//
//   CommitWake wake(database);
//   subscription_ = wake.Subscribe(keyspaces, [this] { Wake(); });
//   Wake();  // for what was committed before
//
// Concurrency: any thread. A follower is called on a committer's thread, under the lock: it must
// only post, and must not let go of a subscription. Letting go of one waits for a call that runs;
// afterwards there is none. A subscription may outlive the CommitWake and the database.
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

// Where commits are heard of. A database, or a fake.
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
  ~CommitWake();  // waits for a call that runs; afterwards nobody is woken
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
