#include "follow/commit_wake.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/mutex.h"
#include "db/database.h"

namespace sluice::follow {
namespace {

class DatabaseCommits final : public CommitSource {
 public:
  explicit DatabaseCommits(db::Database& database) : database_(database) {}

  uint16_t shard_count() const override { return database_.shard_count(); }
  std::shared_ptr<void> OnCommitted(db::ShardId shard, db::CommitListener listener) override {
    return database_.followers().OnCommitted(shard, std::move(listener));
  }

 private:
  db::Database& database_;
};

}  // namespace

struct CommitWake::Followers {
  struct OfKeyspaces {
    std::function<void()> wake;
  };
  struct OfAll {
    db::CommitListener wake;
  };

  void Wake(const db::Committed& committed) {
    const MutexLock lock(mutex);
    for (const auto& follower : of_all) follower->wake(committed);
    if (of_keyspaces.empty()) return;
    for (const db::KeyspaceId keyspace : committed.keyspaces) {
      const auto [from, to] = of_keyspaces.equal_range(keyspace);
      for (auto follower = from; follower != to; ++follower) follower->second->wake();
    }
  }

  Mutex mutex;
  std::multimap<db::KeyspaceId, std::shared_ptr<const OfKeyspaces>> of_keyspaces GUARDED_BY(mutex);
  std::vector<std::shared_ptr<const OfAll>> of_all GUARDED_BY(mutex);
};

CommitWake::CommitWake(db::Database& database) : followers_(std::make_shared<Followers>()) {
  DatabaseCommits source(database);
  ListenTo(source);
}

CommitWake::CommitWake(CommitSource& source) : followers_(std::make_shared<Followers>()) {
  ListenTo(source);
}

CommitWake::~CommitWake() = default;

void CommitWake::ListenTo(CommitSource& source) {
  for (db::ShardId shard = 0; shard < source.shard_count(); ++shard) {
    listeners_.push_back(source.OnCommitted(
        shard,
        [followers = followers_](const db::Committed& committed) { followers->Wake(committed); }));
  }
}

CommitWake::Subscription CommitWake::Subscribe(std::span<const db::KeyspaceId> keyspaces,
                                               std::function<void()> wake) {
  const auto follower =
      std::make_shared<const Followers::OfKeyspaces>(Followers::OfKeyspaces{std::move(wake)});
  {
    const MutexLock lock(followers_->mutex);
    for (const db::KeyspaceId keyspace : keyspaces) {
      followers_->of_keyspaces.emplace(keyspace, follower);
    }
  }
  return Subscription(nullptr, [followers = followers_, follower](void*) {
    const MutexLock lock(followers->mutex);
    std::erase_if(followers->of_keyspaces,
                  [&](const auto& entry) { return entry.second == follower; });
  });
}

CommitWake::Subscription CommitWake::SubscribeToAll(db::CommitListener wake) {
  const auto follower = std::make_shared<const Followers::OfAll>(Followers::OfAll{std::move(wake)});
  {
    const MutexLock lock(followers_->mutex);
    followers_->of_all.push_back(follower);
  }
  return Subscription(nullptr, [followers = followers_, follower](void*) {
    const MutexLock lock(followers->mutex);
    std::erase(followers->of_all, follower);
  });
}

}  // namespace sluice::follow
