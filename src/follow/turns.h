// Makes the workers of a follower run one after the other while they write the same documents. Side
// by side, their commits would conflict, and each refused batch would run again for nothing.
//
// Operation: after a conflict the next batches of all workers run one at a time, in the order in
// which they ask; after that they are tried together again.
// Concurrency: any thread.
#pragma once

#include <cstdint>

#include "base/mutex.h"

namespace sluice::follow {

class Turns {
 public:
  // Held while a batch runs and is committed.
  class Turn {
   public:
    explicit Turn(Turns& turns) : turns_(turns), alone_(turns.Begin()) {}
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

 private:
  static constexpr uint32_t kAloneAfterConflict = 64;

  bool Begin() {
    const MutexLock lock(mutex_);
    if (alone_left_ == 0) return false;
    --alone_left_;
    const uint64_t mine = next_++;
    ended_.Wait(lock, [&]() REQUIRES(mutex_) { return current_ == mine; });
    return true;
  }
  void End() {
    {
      const MutexLock lock(mutex_);
      ++current_;
    }
    ended_.NotifyAll();
  }

  Mutex mutex_;
  CondVar ended_;
  uint32_t alone_left_ GUARDED_BY(mutex_) = 0;  // batches that run one at a time
  uint64_t next_ GUARDED_BY(mutex_) = 0;        // the number of the next worker that asks
  uint64_t current_ GUARDED_BY(mutex_) = 0;     // the number of the worker whose turn it is
};

}  // namespace sluice::follow
