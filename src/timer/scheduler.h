// Gives timers to their owners when they are due, never early.
//
// Operation: one thread serves all owners, each in the shards for which it was added. It knows the
// due time of each owner's next timer in each shard and sleeps until the first of them; a committer
// of a timer calls Created. The scheduler delivers a timer to its owner's receiver; the owner takes
// it (WriteSet::Take), commits and calls Done. Until Done the scheduler does not deliver the timer
// again. After Done it may, if it still sees the row; then Take finds no timer, so a timer never
// runs twice.
// Concurrency: every method from any thread; receivers run on the scheduler's thread, one at a
// time, and must only enqueue.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "base/thread.h"
#include "db/database.h"
#include "timer/timer.h"

namespace sluice::timer {

class Scheduler {
 public:
  Scheduler(const db::Database& database, const Clock& clock);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // False when there is no room: the timer is offered again after the next Done.
  using Receiver = std::function<bool(const Timer& timer)>;
  // Called once, when the owner's timers can't be read; the owner gets no more of them.
  using Failed = std::function<void(const Status& status)>;
  // Delivers the owner's timers of the shard from now on, first those that came due before. Returns
  // the number that Remove takes.
  uint64_t Add(const std::string& owner, db::ShardId shard, Receiver receiver, Failed failed);
  // When it returns, the receiver of that Add is not called any more. A receiver that was added
  // later for the same owner and shard stays, and so do the timers.
  void Remove(const std::string& owner, db::ShardId shard, uint64_t added);

  // Call it after the commit of a timer with that due time.
  void Created(const std::string& owner, db::ShardId shard, uint64_t due_ms);
  // The owner has committed these timers, or has room for more again.
  void Done(const std::string& owner, std::span<const Moment> moments);
  // The clock may have been moved.
  void Wake();

 private:
  struct Place {
    std::string owner;
    db::ShardId shard = 0;
    auto operator<=>(const Place&) const = default;
  };
  // An owner in one shard.
  struct Owner {
    Receiver receiver;
    Failed failed;
    uint64_t added = 0;                // which Add it was
    Moment from;                       // all timers before it were delivered
    uint64_t next_due_ms = 0;          // no timer is due before it; UINT64_MAX for no timer
    uint64_t created_ms = UINT64_MAX;  // the lowest due time of Created since the last look
    bool full = false;                 // the receiver had no room
    std::set<Moment> handed;           // and not done
  };
  // The result of a look at an owner's timers in one shard.
  struct Found {
    std::vector<Timer> due;
    uint64_t next_due_ms = UINT64_MAX;  // of the first that was not put into `due`
  };

  void Loop();
  std::optional<Place> NextOwner(uint64_t now_ms) REQUIRES(mutex_);
  Result<Found> Look(const Place& place, const Moment& from, uint64_t now_ms) const;
  void HandOut(Owner& owner, const Found& found) REQUIRES(mutex_);
  std::chrono::nanoseconds Pause() const REQUIRES(mutex_);

  const db::Database& database_;
  const Clock& clock_;

  Mutex mutex_;
  CondVar wake_;
  std::map<Place, Owner> owners_ GUARDED_BY(mutex_);
  uint64_t added_ GUARDED_BY(mutex_) = 0;
  bool woken_ GUARDED_BY(mutex_) = false;
  bool stopping_ GUARDED_BY(mutex_) = false;
  Thread thread_;
};

}  // namespace sluice::timer
