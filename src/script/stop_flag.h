// Set from any thread to end what a script runs, and what it would run next. May be null.
#pragma once

#include <atomic>
#include <memory>

namespace sluice::script {

using StopFlag = std::shared_ptr<std::atomic<bool>>;

}  // namespace sluice::script
