// Counts jobs and commits that other threads have, so that a stop can wait until all are done.
//
// Concurrency: any thread.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/mutex.h"

namespace sluice::flow_engine {

class InFlight {
 public:
  void Add() { ++count_; }

  void Done() {
    size_t count = count_;
    while (count > 1) {
      if (count_.compare_exchange_weak(count, count - 1)) return;
    }
    // With the mutex: Wait returns, and this object may end, only after this call.
    const MutexLock lock(mutex_);
    if (--count_ == 0) none_.NotifyAll();
  }

  // Waits until there are none.
  void Wait() {
    const MutexLock lock(mutex_);
    none_.Wait(lock, [this] { return count_ == 0; });
  }

 private:
  std::atomic<size_t> count_{0};
  Mutex mutex_;  // of the last Done and of Wait
  CondVar none_;
};

}  // namespace sluice::flow_engine
