#include "procedure/trigger/live_queue.h"

namespace sluice::procedure {

std::shared_ptr<const TriggerDefinition> LiveQueue::definition() const {
  const std::lock_guard lock(mutex_);
  return definition_;
}

void LiveQueue::SetDefinition(std::shared_ptr<const TriggerDefinition> definition) {
  {
    const std::lock_guard lock(mutex_);
    definition_ = std::move(definition);
  }
  Wake();
}

void LiveQueue::Wake() {
  {
    const std::lock_guard lock(mutex_);
    ++news_;
  }
  changed_.notify_all();
}

void LiveQueue::Drop() {
  {
    const std::lock_guard lock(mutex_);
    dropped_ = true;
  }
  seats_->Drop();
  changed_.notify_all();
}

bool LiveQueue::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

uint64_t LiveQueue::news() const {
  const std::lock_guard lock(mutex_);
  return news_;
}

LiveQueue::Waited LiveQueue::Wait(uint64_t seen, Deadline deadline) {
  std::unique_lock lock(mutex_);
  const auto done = [&] { return dropped_ || news_ != seen; };
  if (deadline) {
    changed_.wait_until(lock, *deadline, done);
  } else {
    changed_.wait(lock, done);
  }
  if (dropped_) return Waited::kDropped;
  return news_ != seen ? Waited::kNews : Waited::kTimeout;
}

}  // namespace sluice::procedure
