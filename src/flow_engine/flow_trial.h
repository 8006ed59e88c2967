// One run of an app's flow, for a test. The test gives the answers of mocked tasks; all other tasks
// run as on a server.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/status.h"
#include "flow/player.h"
#include "flow_engine/app.h"
#include "json/value.h"

namespace sluice::flow_engine {

struct FlowTrial {
  std::string flow;
  json::Value input = json::Value::EmptyObject();  // the dataset
  // By task of the flow, or `flow/task` of another one: {body, status, headers, after, never}, a
  // list of these, or {route}.
  json::Value mocks = json::Value::EmptyObject();
  uint64_t ttl_ms = 0;  // instead of the flow's; 0 for that
};

// Moves the clock as the run waits. Error trial.invalid: a flow, task or route does not exist.
Result<flow::Played> PlayFlow(const App& app, const FlowTrial& trial, SteppedClock* clock);

}  // namespace sluice::flow_engine
