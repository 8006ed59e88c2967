// Wakes a thread that waits for something new to look at.
//
//   while (!ending) {
//     const uint64_t seen = signal.news();
//     ... look at everything; when there is nothing to do:
//     signal.Wait(seen);
//   }
//
// Operation: the signal counts the calls of Wake. A call between news() and Wait ends the wait at
// once, so that none is missed.
// Concurrency: any thread; several may wait.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include "follow/waiter.h"

namespace sluice::follow {

class Signal {
 public:
  using Deadline = std::optional<Waiter::Time>;

  explicit Signal(Waiter& waiter = SystemWaiter::Instance()) : waiter_(waiter) {}

  // Cheap; a committer may call it.
  void Wake();
  // Ends all waits, also later ones.
  void Close();
  bool closed() const;

  uint64_t news() const;
  enum class Waited : uint8_t { kNews, kTimeout, kClosed };
  Waited Wait(uint64_t seen, Deadline deadline = std::nullopt);

 private:
  Waiter& waiter_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t news_ = 0;    // guarded by mutex_
  size_t waiting_ = 0;   // guarded by mutex_; threads
  bool closed_ = false;  // guarded by mutex_
};

}  // namespace sluice::follow
