// Runs that start by themselves: of flows with `on` (changes of a keyspace), `cron` or `every`,
// those that user code asks for (outbox/flow_request.h), and what the app says is to run when it is
// loaded (app_options.h).
//
// Each start is one commit of the run's beginning and of what it came from: the follower's cursor,
// the schedule's next time, the request's row. So a change, a due time or a request starts one run.
// One thread does all of it.
//
// Concurrency: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/locked.h"
#include "base/signal.h"
#include "base/thread.h"
#include "flow_engine/app.h"
#include "flow_engine/change_starts.h"
#include "flow_engine/engine.h"
#include "follow/commit_wake.h"

namespace sluice::flow_engine {

// Keyspaces that can't be followed, or filtered so: errors flow.bad_start, or warnings where
// something was dropped.
void CheckStarts(const App& app, const Services& services, Missing missing,
                 flow::Problems* problems);

class Starts {
 public:
  Starts(const Services& services, Engine& engine);
  ~Starts();  // Stop

  // The app whose flows start from now on. Waits.
  enum class Autostarts : uint8_t { kRun, kLeave };
  Status Configure(std::shared_ptr<const App> app, Autostarts autostarts);
  void Start();
  void Stop();

 private:
  struct Schedule {
    const flow::Flow* flow = nullptr;
    std::string row;  // as it is stored
    uint64_t next_ms = 0;
  };
  struct Configured {
    std::shared_ptr<const App> app;
    std::vector<std::unique_ptr<ChangeStarts>> changes;  // by flow and shard
    std::vector<Schedule> schedules;
  };

  // What Configure asks of the thread.
  struct Order {
    std::shared_ptr<const App> app = nullptr;  // null: none yet
    bool load = false;                         // the app is another one
    bool autostart = false;                    // what the app starts is to be started
  };
  // What the thread has at hand.
  struct Progress {
    Configured configured = {};
    size_t autostarted = SIZE_MAX;                      // the next autostart, by number
    bool more = false;                                  // there may be more to do at once
    std::optional<Clock::Time> look_at = std::nullopt;  // at the followers, at the latest
    Status failed = OkStatus();                         // why the last look failed
  };

  Status MakeFollowers(const App& app);
  Result<Configured> Load(std::shared_ptr<const App> app);
  void AddChangeStarts(const flow::Flow& flow, Configured* configured);
  Status AddSchedule(const flow::Flow& flow, Configured* configured);

  void Loop();
  // Waits until there may be something to do. False: the thread is to end.
  bool WaitForWork(const Progress& progress, uint64_t seen);
  // Starts what there is to start.
  void Look(const Order& order, Progress& progress);
  // Each tells whether there may be more to do at once.
  // `look_at` is moved to when it wants to be asked again at the latest.
  static Result<bool> Follow(ChangeStarts& changes, std::optional<Clock::Time>* look_at);
  Result<bool> RunSchedule(const Configured& configured, Schedule& schedule);
  Result<bool> TakeRequests(const Configured& configured);
  // Those from number `*next` on, which is moved past each that has been started.
  Result<bool> RunAutostarts(const Configured& configured, size_t* next);
  Status RunAutostart(const Configured& configured, size_t index);
  Status LaunchOnce(const Configured& configured, const flow::Flow& flow, std::string key,
                    flow::Start start);

  const Services& services_;
  db::Database& database_;
  Engine& engine_;
  follow::CommitWake commits_;
  follow::CommitWake::Subscription subscription_;

  Locked<Order> order_;
  Signal wake_;  // a commit, or another order; closed by Stop
  std::atomic<uint64_t> requests_seen_{0};
  Thread thread_;
};

}  // namespace sluice::flow_engine
