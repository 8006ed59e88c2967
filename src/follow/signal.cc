#include "follow/signal.h"

namespace sluice::follow {

void Signal::Wake() {
  {
    const std::lock_guard lock(mutex_);
    ++news_;
    if (waiting_ == 0) return;
  }
  changed_.notify_all();
}

void Signal::Close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

bool Signal::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

uint64_t Signal::news() const {
  const std::lock_guard lock(mutex_);
  return news_;
}

Signal::Waited Signal::Wait(uint64_t seen, Deadline deadline) {
  std::unique_lock lock(mutex_);
  const auto done = [&] { return closed_ || news_ != seen; };
  ++waiting_;
  if (deadline) {
    waiter_.WaitUntil(changed_, lock, *deadline, done);
  } else {
    changed_.wait(lock, done);
  }
  --waiting_;
  if (closed_) return Waited::kClosed;
  return news_ != seen ? Waited::kNews : Waited::kTimeout;
}

}  // namespace sluice::follow
