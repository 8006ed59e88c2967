// Submits the commits of durable runs to the database, and gives their results to the engine.
//
// Concurrency: any thread.
#pragma once

#include <functional>

#include "db/database.h"
#include "flow_engine/in_flight.h"
#include "flow_engine/live_run.h"
#include "flow_engine/run_threads.h"

namespace sluice::flow_engine {

class StepStore {
 public:
  // Called on a thread of the pool, or on the committer's if the run only answers after it.
  using OnStored = std::function<void(const LiveRunPtr& run, uint64_t number, StoreResult result)>;

  // All of it outlives this.
  StepStore(db::Database& database, RunThreads& threads, OnStored on_stored)
      : database_(database), threads_(threads), on_stored_(std::move(on_stored)) {}

  // The run's mutex keeps its commits in order, and so does its shard.
  void Submit(const LiveRunPtr& run, StoreRequest request) REQUIRES(run->mutex);
  // The meaning of a commit's status for the run: the database may have refused the commit because
  // of other rows than the run's version.
  StoreResult ResultOf(const std::string& run, const Status& status,
                       const std::optional<std::string>& version_before,
                       const std::optional<std::string>& version_after) const;
  // Waits until the database has answered all commits.
  void Wait() { submitted_.Wait(); }

 private:
  db::Database& database_;
  RunThreads& threads_;
  const OnStored on_stored_;
  InFlight submitted_;
};

}  // namespace sluice::flow_engine
