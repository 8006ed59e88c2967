// Threads for sessions that wait for their client most of the time: one each, up to a bound.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

#include "base/pool.h"

namespace sluice::net {

// Any thread. The destructor waits for all sessions, which somebody else must have told to end.
class SessionThreads {
 public:
  explicit SessionThreads(size_t most)
      : most_(most), threads_({.kind = "session", .most_threads = most}) {}

  // False, and nothing started, when there are as many as there may be.
  bool TryStart(std::move_only_function<void()> session);
  size_t size() const { return sessions_; }  // of those that have not ended

 private:
  const size_t most_;
  std::atomic<size_t> sessions_ = 0;
  Pool threads_;  // last: its jobs use the others
};

}  // namespace sluice::net
