// The threads that runs and functions run on: the caller's, or those of the engine's pool.
//
// Concurrency: any thread.
#pragma once

#include <cstddef>

#include "base/pool.h"
#include "flow_engine/in_flight.h"
#include "flow_engine/run_context.h"

namespace sluice::flow_engine {

class RunThreads {
 public:
  explicit RunThreads(size_t most_threads)
      : pool_({.kind = "pool",
               .owner = "flows",
               .most_threads = most_threads,
               .most_running = Pool::Processors()}) {}

  // Runs the job on the thread that the context names.
  void Begin(const RunContext& context, Pool::Job job);
  // On a thread of the pool. After Stop the job is dropped.
  void Post(Pool::Job job) { pool_.Post(std::move(job)); }
  // Waits for running jobs, and until callers have run or dropped the jobs that they have.
  void Stop();

 private:
  InFlight given_away_;  // jobs that callers have
  Pool pool_;
};

}  // namespace sluice::flow_engine
