// The built-in route `timer`: answers after a while.
#pragma once

#include "base/clock.h"
#include "flow_engine/task.h"

namespace sluice::flow_engine {

// Input: `delay`, milliseconds or a text such as 2s. Answers `waited_ms` and `now`.
TaskMaker MakeTimerTask(const Clock& clock);

}  // namespace sluice::flow_engine
