// A flag that any thread may set: it ends the running call of a script, and all later ones. May be
// null.
#pragma once

#include <atomic>
#include <memory>

namespace sluice::script {

using StopFlag = std::shared_ptr<std::atomic<bool>>;

}  // namespace sluice::script
