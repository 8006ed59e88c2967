// Makes the workers of a follower run one after the other while they write the same documents. Side
// by side, their commits would conflict, and each refused batch would run again for nothing.
//
// Operation: after a conflict the next batches of all workers run one at a time, in the order in
// which they ask; after that they are tried together again. A worker that has to stop leaves the
// queue.
// Concurrency: any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <set>

#include "base/mutex.h"

namespace sluice::follow {

class Turns {
 public:
  using Stopping = std::function<bool()>;

  // Held while a batch runs and is committed.
  class Turn {
   public:
    // Waits for the turn, unless `stopping` says that the batch is not to run.
    Turn(Turns& turns, const Stopping& stopping) : turns_(turns), alone_(turns.Begin(stopping)) {}
    ~Turn() {
      if (alone_) turns_.End();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    // Whether this batch runs one at a time with all others that have asked for a turn since.
    bool alone() const { return alone_; }

   private:
    Turns& turns_;
    const bool alone_;
  };

  void Conflicted() {
    const MutexLock lock(mutex_);
    alone_left_ = kAloneAfterConflict;
  }
  // Workers that wait look again whether they have to stop.
  void Wake() {
    { const MutexLock lock(mutex_); }  // after this they have not looked, or they wait
    ended_.NotifyAll();
  }

 private:
  static constexpr uint32_t kAloneAfterConflict = 64;

  bool Begin(const Stopping& stopping) {
    const MutexLock lock(mutex_);
    if (alone_left_ == 0) return false;
    --alone_left_;
    const uint64_t mine = next_++;
    ended_.Wait(lock, [&]() REQUIRES(mutex_) { return current_ == mine || stopping(); });
    if (current_ == mine) return true;
    left_.insert(mine);
    return false;
  }
  void End() {
    {
      const MutexLock lock(mutex_);
      do {
        ++current_;
      } while (left_.erase(current_) > 0);
    }
    ended_.NotifyAll();
  }

  Mutex mutex_;
  CondVar ended_;
  uint32_t alone_left_ GUARDED_BY(mutex_) = 0;  // batches that run one at a time
  uint64_t next_ GUARDED_BY(mutex_) = 0;        // the number of the next worker that asks
  uint64_t current_ GUARDED_BY(mutex_) = 0;     // the number of the worker whose turn it is
  std::set<uint64_t> left_ GUARDED_BY(mutex_);  // numbers of workers that have left the queue
};

}  // namespace sluice::follow
