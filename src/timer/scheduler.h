// Waits until timers are due and hands them to their owners, never early.
//
// Operation: one thread for all owners. It knows when each owner's next timer is due and sleeps
// until the first of them; whoever commits a timer says so (Created). A timer that was handed out
// is the owner's to take and commit; until it says Done the timer is not handed out again. After
// that it may be, if its row is still seen: an owner takes it by WriteSet::Take, which finds none.
// Concurrency: every method from any thread; receivers are called on the scheduler's thread, one at
// a time, and must only hand on.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
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
  // Told once, when an owner's timers can't be read; it gets no more of them.
  using Failed = std::function<void(const Status& status)>;
  // Timers of the owner are handed out from now on, those first that came due before. Returns
  // what Remove wants.
  uint64_t Add(const std::string& owner, Receiver receiver, Failed failed);
  // When it returns, the receiver that was added then is not called any more; one that was added
  // for the same owner later stays. So do the timers.
  void Remove(const std::string& owner, uint64_t added);

  // A timer that is due then was committed.
  void Created(const std::string& owner, uint64_t due_ms);
  // These were handed out, and what they had to do is committed; or there is room again.
  void Done(const std::string& owner, std::span<const Moment> moments);
  // The clock may have been moved.
  void Wake();

 private:
  struct Owner {
    Receiver receiver;
    Failed failed;
    uint64_t added = 0;                // which Add it was
    Moment from;                       // all timers before it were handed out
    uint64_t next_due_ms = 0;          // none is due before; UINT64_MAX when there are none
    uint64_t created_ms = UINT64_MAX;  // the lowest that Created told since the last look
    bool full = false;                 // the receiver had no room
    std::set<Moment> handed;           // and not done
  };
  // What a look at an owner's timers found.
  struct Found {
    std::vector<Timer> due;
    uint64_t next_due_ms = UINT64_MAX;  // of the first that was not put into `due`
  };

  void Loop();
  std::optional<std::string> NextOwner(uint64_t now_ms);
  Result<Found> Look(const std::string& owner, const Moment& from, uint64_t now_ms) const;
  void HandOut(Owner& owner, const Found& found);
  std::chrono::nanoseconds Pause() const;

  const db::Database& database_;
  const Clock& clock_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::map<std::string, Owner> owners_;  // guarded by mutex_
  uint64_t added_ = 0;                   // guarded by mutex_
  bool woken_ = false;                   // guarded by mutex_
  bool stopping_ = false;                // guarded by mutex_
  Thread thread_;
};

}  // namespace sluice::timer
