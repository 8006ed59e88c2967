// A run as JSON, to store it between two steps and to go on with it in another process. Flows and
// tasks are named, not numbered, so that the set of flows it is read with may be a newer one that
// still has them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "flow/run.h"
#include "json/value.h"

namespace sluice::flow {

// What a run was started with never changes, and may be large: who stores the run again and again
// stores it once.
enum class RootInput : uint8_t { kWith, kWithout };

// Only what JSON text can hold.
std::string EncodeRun(const Run& run, RootInput root = RootInput::kWith);

// `input` is that of a root that was encoded without. Error flow.bad_state: not what EncodeRun
// made, or of flows and tasks that are not there.
Result<Run> DecodeRun(const json::Value& value, std::shared_ptr<const FlowSet> flows,
                      const Files* files, const json::Value& input = {});

// The input of the root; missing before it starts, and when it has ended.
json::Value RootInputOf(const Run& run);

}  // namespace sluice::flow
