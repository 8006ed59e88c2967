// Lets the workers of a follower run one after the other while they write the same documents:
// commits that are made at the same time then refuse each other, and every refused one is run again
// for nothing.
//
// Operation: after a conflict the next batches of all workers run one at a time, in the order in
// which they ask; after that they are tried together again.
// Concurrency: any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

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
    // No other worker runs a batch that asked for its turn since then.
    bool alone() const { return alone_; }

   private:
    Turns& turns_;
    const bool alone_;
  };

  void Conflicted() {
    const std::lock_guard lock(mutex_);
    alone_left_ = kAloneAfterConflict;
  }

 private:
  static constexpr uint32_t kAloneAfterConflict = 64;

  bool Begin() {
    std::unique_lock lock(mutex_);
    if (alone_left_ == 0) return false;
    --alone_left_;
    const uint64_t mine = next_++;
    ended_.wait(lock, [&] { return current_ == mine; });
    return true;
  }
  void End() {
    {
      const std::lock_guard lock(mutex_);
      ++current_;
    }
    ended_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  uint32_t alone_left_ = 0;  // guarded by mutex_; batches that run one at a time
  uint64_t next_ = 0;        // guarded by mutex_; who asks now has this number
  uint64_t current_ = 0;     // guarded by mutex_; whose turn it is
};

}  // namespace sluice::follow
