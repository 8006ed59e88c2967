// Drives a run that is not durable: its state is in memory only.
#pragma once

#include <utility>

#include "flow_engine/run_driver.h"

namespace sluice::flow_engine {

class MemoryDriver final : public RunDriver {
 public:
  // Both outlive it.
  MemoryDriver(flow::Run run, StepObserver& observer, StepFiles& files)
      : run_(std::move(run)), observer_(observer), files_(files) {}

  Outcome OnEvent(RunEvent&& event, RunTime now) override;
  Outcome OnStored(uint64_t number, StoreResult result, RunTime now) override;
  Outcome OnIdle(RunTime /*now*/) override { return {}; }
  std::optional<uint64_t> due_ms() const override;
  bool gone() const override { return run_.ended(); }
  uint64_t stepped_ms() const override { return stepped_ms_; }
  const flow::Run& run() const override { return run_; }

 private:
  flow::Run run_;
  StepObserver& observer_;
  StepFiles& files_;
  uint64_t stepped_ms_ = 0;
};

}  // namespace sluice::flow_engine
