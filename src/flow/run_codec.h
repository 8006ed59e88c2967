// A run as JSON, to store it between two steps and continue it in another process. The JSON has
// names of flows and tasks, not numbers, so that a newer set of flows that still has them can
// decode it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "flow/run.h"
#include "json/value.h"

namespace sluice::flow {

// The input of the root never changes and may be large. A driver that stores the run after each
// step stores the input only once, in a row of its own.
enum class RootInput : uint8_t { kWith, kWithout };

// The text is plain JSON: values that JSON does not have are marked (docs/formats/runs.md).
std::string EncodeRun(const Run& run, RootInput root = RootInput::kWith);

// `input` is the root's input if it was encoded without. Error flow.bad_state: the value does not
// come from EncodeRun, or names flows or tasks that do not exist.
Result<Run> DecodeRun(const json::Value& value, std::shared_ptr<const FlowSet> flows,
                      const Files* files, const json::Value& input = {});

// The input of the root; missing before it starts, and when it has ended.
json::Value RootInputOf(const Run& run);

}  // namespace sluice::flow
