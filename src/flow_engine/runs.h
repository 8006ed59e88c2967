// The stored durable runs: lists, shows, cancels and retries them, and goes on with unfinished ones
// when this server gains their shard, as after a restart. When it loses the shard, they leave the
// memory. Keeps finished ones for a while and then removes them, the oldest first.
//
// Concurrency: any thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/locked.h"
#include "base/mutex.h"
#include "base/signal.h"
#include "base/thread.h"
#include "flow_engine/app.h"
#include "flow_engine/crashed_calls.h"
#include "flow_engine/engine.h"
#include "flow_engine/parked.h"
#include "flow_engine/run_rows.h"

namespace sluice::flow_engine {

struct RunRetention {
  uint64_t keep_ms = 7ull * 24 * 3600 * 1000;  // finished runs
  uint64_t most = 10'000;                      // finished runs
};

class Runs final : public db::ShardTenant {
 public:
  using CurrentApp = std::function<std::shared_ptr<const App>()>;
  Runs(const Services& services, Engine& engine, CurrentApp current, RunRetention retention);
  ~Runs() override;  // Stop

  // Goes on with the unfinished runs of all shards that this server owns, now or later, and starts
  // the sweeper that removes finished ones in time.
  Status Start();
  void Stop();
  // After Stop, and after the engine's: no shard comes or goes any more.
  void Leave() { database_.ownership().Remove(this); }

  // db::ShardTenant
  void Gained(db::ShardId shard) override;
  void Lost(db::ShardId shard) override;

  struct Filter {
    std::string flow;  // empty for all
    std::optional<RunPhase> phase;
    std::string before;  // the id that the last page ended with; empty for the first
    size_t limit = 100;
  };
  struct Page {
    std::vector<RunHead> runs;  // the newest first
    std::string next;           // for Filter::before; empty when there are no more
  };
  Result<Page> List(const Filter& filter) const;

  // Its head, steps, model and the tasks that it waits for. Error flow.run_not_found.
  Result<json::Value> Show(const std::string& id) const;
  // Waits until it has ended. Errors flow.run_not_found, flow.run_finished, flow.run_elsewhere.
  Status Cancel(const std::string& id);
  // Sets a finished run back to where the step's task was called, and goes on from there; without a
  // step, to its last one. Errors flow.run_not_found, flow.run_running, flow.step_not_found,
  // flow.step_not_kept, flow.bad_state, commit.not_owner.
  Status Retry(const std::string& id, std::optional<uint32_t> step);

  // Removes finished runs that are too old or too many, in the shards that this server owns, and
  // apps that no run needs, if it owns all shards.
  Status Sweep();
  // Keeps the row of this app from being removed while somebody holds the app.
  void Note(const std::shared_ptr<const App>& app);
  // Runs that wait for a time that is far away.
  size_t parked() const { return parked_.size(); }

 private:
  bool Wake(const std::string& id);
  // A row of the run, none if it has none.
  Result<std::optional<std::string>> ReadRow(const std::string& id, const std::string& key) const;
  // For rows of the run.
  db::Commit CommitOf(const std::string& id) const;
  Result<RunHead> ReadHead(const std::string& id) const;
  Result<RunMachine> ReadMachine(const std::string& id) const;
  // Before a step; `last` is the run's machine at its end.
  Result<RunMachine> ReadBefore(const std::string& id, uint32_t step, const RunMachine& last) const;
  Result<json::Value> ReadInput(const std::string& id) const;  // missing: it has no such row
  // None: the run has ended.
  Result<std::optional<std::string>> ReadVersion(const std::string& id) const;
  Status GoOn(db::ShardId shard);
  // Files of steps that a crash has left in between.
  Status WriteFilesAgain(db::ShardId shard);
  Result<std::shared_ptr<const App>> AppOf(const std::string& version);
  Status ResumeOne(const std::string& id, std::vector<GivenUpCall> given_up = {},
                   Engine::Memory memory = Engine::Memory::kMayLeave);
  Status ResumeOrPark(const std::string& id, std::vector<GivenUpCall> given_up);
  Status GiveUp(const std::string& id, const Status& why);
  // Runs of one shard, in the order of their ids.
  Status RemoveIn(db::ShardId shard, const std::vector<RunHead>& runs);
  Status SweepApps(const std::set<std::string>& needed);
  void SweepLoop();

  const Services& services_;
  db::Database& database_;
  Engine& engine_;
  const CurrentApp current_;
  const RunRetention retention_;
  ParkedRuns parked_;

  Locked<std::map<std::string, std::weak_ptr<const App>>> apps_;  // by version
  Mutex retry_mutex_;           // one retry, sweep, or loss of a shard at a time
  GivenUpCalls given_up_;       // does not change after Start
  bool counts_stored_ = false;  // of crashes; changes in Gained
  Signal stop_;                 // ends the sweeper
  Thread sweeper_;
};

}  // namespace sluice::flow_engine
