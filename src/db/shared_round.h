// One round of commits over several shards, through the steps that shared_commits.h describes. One
// thread; the committers answer on theirs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "db/commit_parts.h"
#include "db/shared_commits.h"

namespace sluice::db {

class SharedRound {
 public:
  SharedRound(SharedCommits& owner, SharedCommits::Items items);
  // Returns when all commits have been answered and the shards are free.
  void Run();

 private:
  struct Member {
    std::unique_ptr<SharedCommits::Item> item;  // without its callback: it was answered
    CommitParts parts;
    CommitResult result;
  };
  // What the round does in one shard.
  struct Work {
    bool held = false;
    bool prepared = false;  // its group is stored as a row, and is not finished
    storage::Batch batch;
    std::unique_ptr<Group> group;
    uint64_t commits = 0;  // that the group has
    uint64_t writes = 0;
    Status status;  // of the last task
  };

  void Hold();
  void RefuseUnheld();
  void Check();
  void OpenGroups();
  void Add(Member& member);
  void Store();
  bool Prepare();
  bool Decide();
  void Finish();
  void Abort(const Status& why);
  void Release();
  void AnswerAll();

  std::vector<ShardId> Prepared() const;
  void Begin(ShardId shard, Committer::Task task);
  Status AwaitTasks();
  void AnswerLate();
  void TaskEnded(ShardId shard, Status status);

  SharedCommits& owner_;
  std::vector<Member> members_;
  std::map<ShardId, Work> works_;
  std::shared_ptr<const Catalog> catalog_;  // of the groups
  ShardId decider_ = 0;
  SharedId id_ = 0;
  std::map<ShardId, PreparedGroup> prepared_groups_;
  const uint64_t since_ns_;
  bool told_late_ = false;

  Mutex mutex_;
  CondVar ended_;
  size_t running_ GUARDED_BY(mutex_) = 0;
  std::map<ShardId, Status> outcomes_ GUARDED_BY(mutex_);
};

// Appends a prepared group to its shard, and deletes the row that kept it.
Status FinishPrepared(ShardId shard, const PreparedGroup& prepared,
                      Committer::TaskContext& context);

// Deletes the row that kept it.
Committer::Task DropPrepared(ShardId shard);

}  // namespace sluice::db
