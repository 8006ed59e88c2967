// Counts things that others have in hand, so that whoever stops can wait until they are back.
//
// Concurrency: any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace sluice::flow_engine {

class InFlight {
 public:
  void Add() { ++count_; }

  void Done() {
    size_t count = count_;
    while (count > 1) {
      if (count_.compare_exchange_weak(count, count - 1)) return;
    }
    // Under the mutex: Wait returns, and this object may end, when this call is over.
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) none_.notify_all();
  }

  // Until there are none.
  void Wait() {
    std::unique_lock lock(mutex_);
    none_.wait(lock, [this] { return count_ == 0; });
  }

 private:
  std::atomic<size_t> count_{0};
  std::mutex mutex_;
  std::condition_variable none_;
};

}  // namespace sluice::flow_engine
