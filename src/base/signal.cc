#include "base/signal.h"

namespace sluice {

void Signal::Wake() {
  {
    const MutexLock lock(mutex_);
    ++news_;
    if (waiting_ == 0) return;
  }
  changed_.NotifyAll();
}

void Signal::Close() {
  {
    const MutexLock lock(mutex_);
    closed_ = true;
  }
  changed_.NotifyAll();
}

bool Signal::closed() const {
  const MutexLock lock(mutex_);
  return closed_;
}

uint64_t Signal::news() const {
  const MutexLock lock(mutex_);
  return news_;
}

Signal::Waited Signal::Wait(uint64_t seen, Deadline deadline) {
  const MutexLock lock(mutex_);
  const auto done = [&]() REQUIRES(mutex_) { return closed_ || news_ != seen; };
  ++waiting_;
  if (deadline) {
    changed_.WaitUntil(lock, clock_, *deadline, done);
  } else {
    changed_.Wait(lock, done);
  }
  --waiting_;
  if (closed_) return Waited::kClosed;
  return news_ != seen ? Waited::kNews : Waited::kTimeout;
}

}  // namespace sluice
