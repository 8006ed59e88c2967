// A shard's committer: the one thread that changes the shard.
//
// Operation: it takes all commits that wait, builds one group of them (group.h), appends that to
// the journal once and then completes each. Work that must see a still shard (a catalog change, a
// trim) runs as a task between two groups, writing through its own batch.
// Concurrency: Submit, Run and the getters from any thread; callbacks and tasks run on the
// committer's thread. Stop completes everything submitted before it.
// Bounds: the queue has a length and a size; past them a commit is refused with commit.overloaded.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "base/thread.h"
#include "db/catalog.h"
#include "db/commit.h"
#include "db/group.h"
#include "db/hybrid_clock.h"
#include "db/journal.h"
#include "db/last_writes.h"
#include "db/types.h"
#include "storage/store.h"

namespace sluice::db {

struct CommitterOptions {
  uint64_t tombstone_retention_ms = 0;
  size_t max_queued_commits = 0;
  size_t max_queued_bytes = 0;
  uint16_t shards = 1;  // of the database
};

struct CommitterStats {
  uint64_t commits = 0;
  uint64_t groups = 0;
  uint64_t rejected = 0;
  uint64_t writes = 0;
  uint64_t queued = 0;
  uint64_t append_ns = 0;
  Status failure;  // the error of the last append, until the shard has recovered
};

class Committer {
 public:
  // Returns the catalog against which the next group is validated.
  using CatalogSource = std::function<std::shared_ptr<const Catalog>()>;

  Committer(ShardId shard, storage::Store& store, Journal& journal, const Clock& clock,
            HybridClock& stamps, CatalogSource catalog, ShardState state, CommitterOptions options);
  ~Committer();  // Stop
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  void Submit(Commit commit, CommitCallback callback);
  CommitResult Apply(Commit commit);  // waits; not on the committer's thread

  // A task may change the shard's state and add rows; they are appended as one group, with the
  // shard's next sequence. `published` runs after a successful append, before the next group.
  struct TaskContext {
    ShardState& state;
    storage::Batch& batch;
    std::function<void()> published;
    std::vector<std::string> meta_keys;  // of the rows of the meta family that it changes
  };
  using Task = std::move_only_function<Status(TaskContext&)>;
  // Waits for the task's group to be appended.
  Status Run(Task task);

  Sequence last_sequence() const { return last_sequence_.load(std::memory_order_acquire); }
  Sequence trimmed() const { return trimmed_.load(std::memory_order_acquire); }
  Sequence purged() const { return purged_.load(std::memory_order_acquire); }
  CommitterStats Stats() const;

  // `listener` runs after each group, on the committer's thread and before the group's writers get
  // their answers, until the caller lets go of the token. That waits for a call that runs, so a
  // listener must not do it. The token may outlive the committer.
  std::shared_ptr<void> OnCommitted(CommitListener listener);

  void Stop();

 private:
  struct Item {
    Commit commit;
    CommitCallback callback;
    Task task;
    std::function<void(Status)> task_done;
    size_t bytes = 0;
  };
  using Items = std::vector<std::unique_ptr<Item>>;

  void Loop();
  Items TakeItems();
  void RunGroup(Items& items);
  void RunTask(Item& item);
  Status Append(storage::Batch* batch);
  Status RecoverIfFailed();
  void Publish(const ShardState& state);
  void AnnounceGone(const ShardState& state);
  void NotifyListeners(const Committed& committed);
  void Enqueue(std::unique_ptr<Item> item);
  bool IsFull(const Item& item) const REQUIRES(mutex_);

  const ShardId shard_;
  storage::Store& store_;
  Journal& journal_;
  const Clock& clock_;
  HybridClock& stamps_;
  const CatalogSource catalog_;
  const CommitterOptions options_;

  // The committer's thread only.
  ShardState state_;
  storage::Batch batch_;
  LastWrites last_writes_;
  uint64_t last_recovery_ns_ = 0;

  std::atomic<Sequence> last_sequence_;
  std::atomic<Sequence> trimmed_;
  std::atomic<Sequence> purged_;
  std::atomic<uint64_t> commits_{0};
  std::atomic<uint64_t> groups_{0};
  std::atomic<uint64_t> rejected_{0};
  std::atomic<uint64_t> writes_{0};
  std::atomic<uint64_t> append_ns_{0};

  mutable Mutex mutex_;
  CondVar wake_;
  std::deque<std::unique_ptr<Item>> queue_ GUARDED_BY(mutex_);
  size_t queued_bytes_ GUARDED_BY(mutex_) = 0;
  bool stopping_ GUARDED_BY(mutex_) = false;
  Status failure_ GUARDED_BY(mutex_);

  // Shared with the tokens. The mutex is held during the calls, so that letting go of a token waits
  // for a call that runs.
  struct Listeners {
    Mutex mutex;
    std::list<CommitListener> calls GUARDED_BY(mutex);
  };
  const std::shared_ptr<Listeners> listeners_ = std::make_shared<Listeners>();

  Thread thread_;
};

}  // namespace sluice::db
