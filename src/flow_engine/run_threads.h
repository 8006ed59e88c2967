// The threads that runs and functions run on: those of whoever asks, or the engine's pool.
//
// Concurrency: any thread.
#pragma once

#include <cstddef>

#include "flow_engine/in_flight.h"
#include "flow_engine/pool.h"
#include "flow_engine/run_context.h"

namespace sluice::flow_engine {

class RunThreads {
 public:
  explicit RunThreads(size_t most_threads) : pool_("flows", most_threads) {}

  // Where the context says.
  void Begin(const RunContext& context, Pool::Job job);
  // On a thread of the pool. After Stop the job is dropped.
  void Post(Pool::Job job) { pool_.Post(std::move(job)); }
  // Waits for what runs, and until callers have run or dropped what they were given.
  void Stop();

 private:
  InFlight given_away_;  // jobs that callers have
  Pool pool_;
};

}  // namespace sluice::flow_engine
