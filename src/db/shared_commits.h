// Commits over several shards: all of their parts take effect, or none.
//
// Operation: one thread takes all such commits that wait and applies them together.
//   1. Hold: it keeps the shards still that they read or write (Committer::Hold).
//   2. Check: every part is checked against its shard, and becomes part of one group for each
//      shard. A commit with a part that fails is refused; the others go on. Shards that are only
//      read have done their work now.
//   3. Prepare: each shard but one stores its group as the bytes of a row.
//   4. Decide: the last shard, the lowest one, appends its own group together with the row of the
//      decision. From then on all prepared groups take effect, whatever happens.
//   5. Finish: each other shard appends its group itself, and deletes the prepared one. The callers
//      are answered, and the shards take other commits again.
// The decision's row is deleted with the next decision of that shard.
//
// If the process ends in between, the shards do the rest when they are gained again, before they
// take anything (TaskLeft): a prepared group whose decision is stored is finished, another one is
// dropped. While a shard is held it appends nothing else, so a prepared group still fits then, byte
// for byte.
//
// There are no locks on documents and no deadlocks: one thread holds shards, and it needs nothing
// that others hold. Commits of a held shard wait for three appends; so do the shared commits that
// arrive meanwhile, which then become the next round.
//
// Concurrency: Submit from any thread. Callbacks run on the thread of this class.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/signal.h"
#include "base/status.h"
#include "base/thread.h"
#include "db/catalog.h"
#include "db/clean_cut.h"
#include "db/commit.h"
#include "db/committer.h"
#include "db/hybrid_clock.h"
#include "db/shared_rows.h"
#include "db/types.h"

namespace sluice::db {

struct SharedCommitsOptions {
  size_t max_queued_commits = 0;
  size_t max_queued_bytes = 0;
  uint64_t answer_within_ms = 0;  // 0: callers wait until the outcome is known
};

class SharedRound;

class SharedCommits {
 public:
  using Committers = std::vector<std::unique_ptr<Committer>>;

  SharedCommits(const Committers& committers, const Clock& clock, HybridClock& stamps,
                Committer::CatalogSource catalog, CleanCut& cut, SharedCommitsOptions options);
  ~SharedCommits();  // Stop

  // The second and later calls do nothing.
  void Start();
  // Completes what was submitted, as far as the journals answer. The committers still run.
  void Stop();

  void Submit(Commit commit, CommitCallback callback);

 private:
  friend class SharedRound;
  struct Item {
    Commit commit;
    CommitCallback callback;
    size_t bytes = 0;
  };
  using Items = std::deque<std::unique_ptr<Item>>;

  void Loop();
  Items Await();

  const Committers& committers_;
  const Clock& clock_;
  HybridClock& stamps_;
  const Committer::CatalogSource catalog_;
  CleanCut& cut_;
  const SharedCommitsOptions options_;
  // By shard: decisions of which all is finished, and whose rows are still there.
  std::map<ShardId, std::vector<SharedId>> finished_;

  Mutex mutex_;
  CondVar wake_;
  Items queue_ GUARDED_BY(mutex_);
  size_t queued_bytes_ GUARDED_BY(mutex_) = 0;
  bool started_ GUARDED_BY(mutex_) = false;
  bool stopping_ GUARDED_BY(mutex_) = false;
  Signal end_;

  Thread thread_;
};

// What such a commit has left undone in the shard, when the process ended or the shard was lost:
// the task finishes the prepared group, or drops it. Null if there is nothing. The rows of the
// deciding shard must be here as its owner has them.
Result<Committer::Task> TaskLeft(const storage::Store& store, ShardId shard);
// Deletes the rows of decisions that no prepared group of any shard needs. Waits.
Status DropOldDecisions(const storage::Store& store, ShardId shard, Committer& committer,
                        uint16_t shards);

}  // namespace sluice::db
