// A run as JSON, to store it between two steps and to go on with it in another process. Flows and
// tasks are named, not numbered, so that the set of flows it is read with may be a newer one that
// still has them.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "flow/run.h"
#include "json/value.h"

namespace sluice::flow {

// Only what JSON text can hold.
std::string EncodeRun(const Run& run);

// Error flow.bad_state: not what EncodeRun made, or of flows and tasks that are not there.
Result<Run> DecodeRun(const json::Value& value, std::shared_ptr<const FlowSet> flows,
                      const Files* files);

}  // namespace sluice::flow
