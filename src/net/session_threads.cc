#include "net/session_threads.h"

#include <utility>

namespace sluice::net {

bool SessionThreads::TryStart(std::move_only_function<void()> session) {
  if (sessions_.fetch_add(1) >= most_) {
    --sessions_;
    return false;
  }
  // Each session has a thread of its own: there are never more of them than threads.
  const bool started = threads_.Post([this, session = std::move(session)]() mutable {
    session();
    session = {};  // everything that it owns ends before the session counts as ended
    --sessions_;
  });
  if (!started) --sessions_;
  return started;
}

}  // namespace sluice::net
