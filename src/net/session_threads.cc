#include "net/session_threads.h"

#include <algorithm>
#include <utility>

namespace sluice::net {

SessionThreads::~SessionThreads() {
  for (Session& session : sessions_) session.thread.join();
}

bool SessionThreads::TryStart(std::move_only_function<void()> session) {
  const std::lock_guard lock(mutex_);
  JoinEnded();
  if (sessions_.size() >= most_) return false;
  Session& started = sessions_.emplace_back();
  started.thread = Thread({"session"}, [&started, session = std::move(session)]() mutable {
    session();
    session = {};  // what it holds goes before the end is told
    started.ended = true;
  });
  return true;
}

size_t SessionThreads::size() const {
  const std::lock_guard lock(mutex_);
  return static_cast<size_t>(
      std::ranges::count_if(sessions_, [](const Session& session) { return !session.ended; }));
}

void SessionThreads::JoinEnded() {
  std::erase_if(sessions_, [](Session& session) {
    if (!session.ended) return false;
    session.thread.join();
    return true;
  });
}

}  // namespace sluice::net
