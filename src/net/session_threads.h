// Threads for sessions that wait for their client most of the time: one each, up to a bound.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <mutex>

#include "base/thread.h"

namespace sluice::net {

// Any thread. The destructor waits for all sessions, which somebody else must have told to end.
class SessionThreads {
 public:
  explicit SessionThreads(size_t most) : most_(most) {}
  ~SessionThreads();
  SessionThreads(const SessionThreads&) = delete;
  SessionThreads& operator=(const SessionThreads&) = delete;

  // False, and nothing started, when there are as many as there may be.
  bool TryStart(std::move_only_function<void()> session);
  size_t size() const;  // of those that have not ended

 private:
  struct Session {
    Thread thread;
    std::atomic<bool> ended = false;
  };
  void JoinEnded();  // under mutex_

  const size_t most_;
  mutable std::mutex mutex_;
  std::list<Session> sessions_;  // under mutex_
};

}  // namespace sluice::net
