// Starts runs without a client: of flows with `on` (changes of a keyspace), `cron` or `every`, by
// requests of user code (outbox/flow_request.h), and the autostarts of the app (app_options.h).
//
// One commit stores the beginning of the run and consumes the cause of the start: it moves the
// follower's cursor, sets the schedule's next time, or removes the request's row. So each change,
// due time or request starts exactly one run. One thread does all of it.
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
#include "outbox/flow_request.h"

namespace sluice::flow_engine {

// Checks that the keyspaces of flows with `on` can be followed, and that their filters can be
// planned: errors flow.bad_start, or warnings where a keyspace was dropped.
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

  // The order of Configure to the thread.
  struct Order {
    std::shared_ptr<const App> app = nullptr;  // null: none yet
    bool load = false;                         // the app is another one
    bool autostart = false;                    // the autostarts have to run
  };
  // The state of the thread.
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
  // Looks at all causes of starts once, and starts the runs.
  void Look(const Order& order, Progress& progress);
  // These return whether there may be more to do at once.
  // `look_at` is moved forward to the time of the follower's next look, if that is earlier.
  static Result<bool> Follow(ChangeStarts& changes, std::optional<Clock::Time>* look_at);
  Result<bool> RunSchedule(const Configured& configured, Schedule& schedule);
  Result<bool> TakeRequests(const Configured& configured);
  // `removal` removes the request's row.
  Status TakeRequest(const Configured& configured, outbox::FlowRequest request, db::Commit removal);
  Status StatusIfNotBegun(const std::string& run, const Status& refused) const;
  // Starts the autostarts from number `*next` on, and moves that past each of them.
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
