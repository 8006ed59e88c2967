#include "flow_engine/memory_driver.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace sluice::flow_engine {

Outcome MemoryDriver::OnEvent(RunEvent&& event, RunTime now) {
  Outcome outcome;
  if (run_.ended()) return outcome;
  // Another thread may have been faster.
  stepped_ms_ = std::max(stepped_ms_, now.wall_ms);
  run_.Step(std::move(event.event), stepped_ms_, &outcome.actions);
  if (const auto files = TakeFiles(&outcome.actions); !files.empty()) files_.Write(files);
  observer_.OnStep(run_, outcome.actions, 0, now);
  return outcome;
}

Outcome MemoryDriver::OnStored(uint64_t /*number*/, StoreResult /*result*/, RunTime /*now*/) {
  CHECK(false);  // it has no commits
  return {};
}

std::optional<uint64_t> MemoryDriver::due_ms() const {
  return run_.ended() ? std::nullopt : run_.next_due_ms();
}

}  // namespace sluice::flow_engine
