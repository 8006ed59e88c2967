#include "procedure/trigger/live_queue.h"

#include <utility>

namespace sluice::procedure {

void LiveQueue::SetDefinition(std::shared_ptr<const TriggerDefinition> definition) {
  definition_.Set(std::move(definition));
  signal_.Wake();
}

void LiveQueue::Drop() {
  signal_.Close();
  seats_->Drop();
}

}  // namespace sluice::procedure
