// Hands the commits of durable runs to the database, and what became of them back to the engine.
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
  // On a thread of the pool; of a commit after which the run only answers, on the database's.
  using OnStored = std::function<void(const LiveRunPtr& run, uint64_t number, StoreResult result)>;

  // All of it outlives this.
  StepStore(db::Database& database, RunThreads& threads, OnStored on_stored)
      : database_(database), threads_(threads), on_stored_(std::move(on_stored)) {}

  // Commits are stored in the order in which they are submitted.
  bool in_order() const { return database_.shard_count() == 1; }

  // The run's mutex keeps its commits in order.
  void Submit(const LiveRunPtr& run, StoreRequest request) REQUIRES(run->mutex);
  // What a commit's status means for the run: the database may have refused it because of other
  // rows than the run's version.
  StoreResult ResultOf(const std::string& run, const Status& status,
                       const std::optional<std::string>& version_before,
                       const std::optional<std::string>& version_after) const;
  // Until the database has answered everything.
  void Wait() { submitted_.Wait(); }

 private:
  db::Database& database_;
  RunThreads& threads_;
  const OnStored on_stored_;
  InFlight submitted_;
};

}  // namespace sluice::flow_engine
