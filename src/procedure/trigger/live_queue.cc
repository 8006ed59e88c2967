#include "procedure/trigger/live_queue.h"

#include <utility>

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
  signal_.Wake();
}

void LiveQueue::Drop() {
  signal_.Close();
  seats_->Drop();
}

}  // namespace sluice::procedure
