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
// Concurrency: any thread; several may wait. Its lock is a leaf.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/mutex.h"

namespace sluice {

class Signal {
 public:
  using Deadline = std::optional<Clock::Time>;

  explicit Signal(const Clock& clock = MachineClock()) : clock_(clock) {}

  // Cheap; a committer may call it.
  void Wake();
  // Ends all waits, also later ones.
  void Close();
  bool closed() const;

  uint64_t news() const;
  enum class Waited : uint8_t { kNews, kTimeout, kClosed };
  Waited Wait(uint64_t seen, Deadline deadline = std::nullopt);

 private:
  const Clock& clock_;
  mutable Mutex mutex_;
  CondVar changed_;
  uint64_t news_ GUARDED_BY(mutex_) = 0;
  size_t waiting_ GUARDED_BY(mutex_) = 0;  // threads
  bool closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace sluice
