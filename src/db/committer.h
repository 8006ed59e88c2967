// A shard's committer: the one thread that changes the shard.
//
// Operation: it takes all commits that wait, builds one group of them (group.h), appends that to
// the journal and completes each commit once the group is durable. While a group is on its way it
// builds the next ones upon it, up to a bound; nothing of a group is acknowledged or visible before
// it is committed, and results are answered in order. Work that must see a still shard (a catalog
// change, a trim) runs as a task when nothing is on its way, writing through its own batch.
//
// When a group is not committed, all that were built upon it are given up with it.
// `commit.not_stored` says that a commit certainly did not happen. If the journal does not know an
// outcome, the committer takes nothing until the journal can say what is stored.
// `commit.shard_lost`: somebody else has appended, so the committer never takes anything again.
//
// A caller does not wait longer than answer_within_ms for the journal: it gets `commit.unknown`
// (the commit may or may not happen), or `commit.not_stored` if it was only queued. Tasks wait
// until it is known. The embedded journal answers at once, so none of this happens with it.
//
// Before Start it is a standby: it has no thread, refuses commits (`commit.not_owner`) and is fed
// with the groups of another committer (ApplyGroup). Both publish a group in one way, Install.
// BecomeStandby ends the thread again.
//
// Concurrency: Submit, Run and the getters from any thread; callbacks and tasks run on the
// committer's thread. Stop and BecomeStandby complete everything submitted before. ApplyGroup,
// Start, BecomeStandby and Replace: one thread at a time.
// Bounds: the queue has a length and a size; past them a commit is refused with commit.overloaded.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
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
  uint16_t shards = 1;            // of the database
  uint64_t answer_within_ms = 0;  // 0: callers wait until the outcome is known
};

struct CommitterStats {
  uint64_t commits = 0;
  uint64_t groups = 0;
  uint64_t rejected = 0;
  uint64_t writes = 0;
  uint64_t queued = 0;
  uint64_t append_ns = 0;
  Status failure;  // why the shard takes no commits now
};

class Committer {
 public:
  // Returns the catalog against which the next group is validated.
  using CatalogSource = std::function<std::shared_ptr<const Catalog>()>;

  // Runs after each group whose rows are in the store, on the thread that put them there: what is
  // kept in memory of the rows follows them.
  using Installed = std::function<void(const storage::Batch& batch, const Committed& committed)>;

  Committer(ShardId shard, storage::Store& store, Journal& journal, const Clock& clock,
            HybridClock& stamps, CatalogSource catalog, Installed installed, ShardState state,
            CommitterOptions options);
  ~Committer();  // Stop
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  // Writes the next group of the shard to the store. Error group.gap if the shard's last commit is
  // not `expected`; what could not be applied has changed nothing.
  Status ApplyGroup(Sequence expected, Sequence next, storage::Batch* batch);

  // The shard's rows were replaced (shard_copy.h). The caller tells the listeners, when all is
  // known.
  void Replace(const ShardState& state);
  void NotifyListeners(const Committed& committed);

  void Submit(Commit commit, CommitCallback callback);
  CommitResult Apply(Commit commit);  // waits; not on the committer's thread

  // A task may change the shard's state and add rows; they are appended as one group, with the
  // shard's next sequence. `published` runs after the group was installed, before the next group is
  // built.
  struct TaskContext {
    ShardState& state;
    storage::Batch& batch;
    std::function<void()> published;
    // The documents that it changes, if any, are known to the shard already (NewHeldGroup).
    bool writes_are_noted = false;
    uint64_t commits = 0;  // in the group, for the statistics
    uint64_t writes = 0;
  };
  using Task = std::move_only_function<Status(TaskContext&)>;

  // From then on it takes commits, and no groups. If there is a first task, it waits for it; if
  // that fails, the shard takes nothing.
  Status Start(Task first = nullptr);
  // From then on it takes groups, and no commits.
  void BecomeStandby();
  bool owns() const { return role_.load(std::memory_order_acquire) == Role::kOwner; }
  // Waits until the task's group is committed, or is known not to be.
  Status Run(Task task);

  // For commits that several shards share (shared_commits.h). The shard stands still from the call
  // of `held` with OK until Release: nothing is on its way, and only tasks of the holder are taken.
  // `held` runs on the committer's thread, or at once if the shard takes nothing.
  using Held = std::move_only_function<void(Status)>;
  void Hold(Held held);
  // These are for the holder, on one thread, while no task of it runs.
  const ShardState& held_state() const { return state_; }
  // Commits are checked and added on the holder's thread.
  std::unique_ptr<Group> NewHeldGroup(const Catalog& catalog, ShardState state,
                                      storage::Batch* batch, size_t commits);
  void RunHeld(Task task, std::function<void(Status)> done);
  // With an error the shard takes nothing more.
  void Release(Status failure = OkStatus());

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
    Held held;
    size_t bytes = 0;

    bool is_commit() const { return !task && !held; }
  };
  using Items = std::vector<std::unique_ptr<Item>>;

  // kLeaving: it completes what it has taken, and is a standby then.
  enum class Role : uint8_t { kStandby, kOwner, kLeaving };

  // A group on its way to the journal, or one that waits behind such a group.
  struct Pending {
    Items items;  // answered ones have no callback any more
    std::vector<CommitResult> results;
    std::shared_ptr<const Catalog> catalog;
    std::optional<Group> group;  // none for a task
    storage::Batch batch;
    ShardState next;
    Committed committed;
    std::function<void()> published;
    uint64_t commits = 0;  // of a task
    uint64_t writes = 0;
    bool appended = false;   // false: the group has no rows, only answers
    bool told_late = false;  // its callers do not wait any more
    uint64_t since_ns = 0;
    std::optional<Journal::Answer> answer;  // guarded by the committer's mutex_
  };

  // The committer's thread: taking, building and appending (committer_loop.cc).
  void Loop();
  Items Await();
  std::optional<Clock::Time> Deadline() const REQUIRES(mutex_);
  bool HeadIsAnswered() const REQUIRES(mutex_);
  bool CanSettle() const REQUIRES(mutex_);
  bool CanTake() const REQUIRES(mutex_);
  bool CanEnd() const REQUIRES(mutex_);
  Items TakeItems() REQUIRES(mutex_);
  Pending& NewPending(Items items);
  void StartGroup(Items items);
  void StartTask(Items items);
  void StartHold(Item& item);
  Group::Context GroupContext(const Catalog& catalog, size_t commits);
  Status RunTask(Pending& pending);
  void Append(Pending& pending);
  void OnAnswer(Pending& pending, Journal::Answer answer);
  Status CheckTaking();
  void Refuse(const Items& items, const Status& status);

  // The committer's thread: what becomes of groups (committer_outcome.cc).
  void Settle();
  bool SettleHead(Journal::Outcome outcome);
  std::optional<Journal::Outcome> HeadOutcome();
  bool Complete();
  bool IsUnclear() const;
  bool AskJournal();
  void NothingIsStored();
  void GiveUp(const Status& status);
  void StepDown();
  void Abandon();
  void SetFailure(const Status& status);
  bool stopping();
  void AnswerLate();
  void AnswerCommits(Pending& pending);
  void AnswerTask(Pending& pending, const Status& status);
  void Recycle(std::unique_ptr<Pending> pending);
  bool IsLate() const { return !in_flight_.empty() && in_flight_.front()->told_late; }

  void Install(const ShardState& state, const storage::Batch& batch, const Committed& committed);
  void AnnounceGone(const ShardState& state);
  void Enqueue(std::unique_ptr<Item> item);
  bool IsFull(const Item& item) const REQUIRES(mutex_);

  const ShardId shard_;
  storage::Store& store_;
  Journal& journal_;
  const Clock& clock_;
  HybridClock& stamps_;
  const CatalogSource catalog_;
  const Installed installed_;
  const CommitterOptions options_;

  // The committer's thread only.
  ShardState state_;                                // after the groups that are on their way
  ShardState durable_;                              // after the last one that was committed
  std::deque<std::unique_ptr<Pending>> in_flight_;  // oldest first
  std::vector<std::unique_ptr<Pending>> spare_;     // so that batches keep their memory
  std::vector<const Group*> earlier_;
  LastWrites last_writes_;
  uint64_t last_recovery_ns_ = 0;
  uint64_t retry_ns_ = 0;  // when the journal or the store is tried again; 0: nothing is wrong
  bool lost_ = false;      // somebody else has appended
  bool left_ = false;      // it takes nothing any more

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
  std::atomic<Role> role_ = Role::kStandby;  // changes under the mutex
  bool stopping_ GUARDED_BY(mutex_) = false;
  bool held_ GUARDED_BY(mutex_) = false;
  std::unique_ptr<Item> held_task_ GUARDED_BY(mutex_);
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
