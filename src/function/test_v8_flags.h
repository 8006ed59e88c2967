// For tests: V8 gets the flags in the environment variable SLUICE_TEST_V8_FLAGS, so that a run can
// collect garbage as often as possible. Included by a file of each test program that runs handlers.
#pragma once

#include <cstdlib>

#include "js/engine.h"

namespace sluice::function {

inline const bool kHasTestV8Flags = [] {
  const char* flags = std::getenv("SLUICE_TEST_V8_FLAGS");
  if (flags != nullptr) js::AddEngineFlags(flags);
  return flags != nullptr;
}();

}  // namespace sluice::function
