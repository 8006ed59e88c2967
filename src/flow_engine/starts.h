// Starts runs without a client: of flows with `on` (changes of a keyspace), `cron` or `every`, by
// requests of user code (outbox/flow_request.h), and the autostarts of the app (app_options.h).
//
// One commit stores the beginning of the run and consumes the cause of the start: it moves the
// follower's cursor, sets the schedule's next time, or removes the request's row. So each change,
// due time or request starts exactly one run. One thread does all of it.
//
// Each cause belongs to a shard, and only its owner looks at it: a change and a request to that of
// their row, a schedule and an autostart to that of the flow's or route's name. A server that gains
// a shard runs its autostarts, as after a restart.
//
// Concurrency: any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/locked.h"
#include "base/mutex.h"
#include "base/signal.h"
#include "base/thread.h"
#include "flow_engine/app.h"
#include "flow_engine/change_starts.h"
#include "flow_engine/engine.h"
#include "outbox/flow_request.h"

namespace sluice::flow_engine {

// Checks that the keyspaces of flows with `on` can be followed, and that their filters can be
// planned: errors flow.bad_start, or warnings where a keyspace was dropped.
void CheckStarts(const App& app, const Services& services, Missing missing,
                 flow::Problems* problems);

class Starts final : public db::ShardTenant {
 public:
  // Whether the app is the one that is stored: the stored one may not be ordered yet.
  using IsStored = std::function<Result<bool>(const App& app)>;
  Starts(const Services& services, Engine& engine, IsStored is_stored);
  ~Starts() override;  // Stop

  // The app whose flows start from now on. Waits. Followers of its flows are made when this server
  // owns all shards (CatalogAdmin), which may be later.
  enum class Autostarts : uint8_t { kRun, kLeave };
  Status Configure(std::shared_ptr<const App> app, Autostarts autostarts)
      EXCLUDES(followers_mutex_);
  void Start();
  void Stop();

  // db::ShardTenant
  void Gained(db::ShardId shard) override;
  void Lost(db::ShardId shard) override;

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

  // What others tell the thread.
  struct Order {
    uint64_t number = 0;                       // of the order; grows
    std::shared_ptr<const App> app = nullptr;  // null: none yet
    std::set<db::ShardId> shards = {};         // that it works in
    bool load = false;                         // the app or the shards are others
    bool make_followers = false;               // they could not be made before
    bool anew = false;  // autostarts that have not run yet are those of an old app
    std::set<db::ShardId> autostart = {};  // the autostarts of these have to run
    std::set<db::ShardId> requested = {};  // these have new requests
  };
  // The state of the thread.
  struct Progress {
    uint64_t order = 0;  // the last one that was taken
    Configured configured = {};
    std::set<db::ShardId> autostart = {};               // their autostarts are to be entered
    std::set<size_t> autostarts = {};                   // that have to run, by number
    std::set<db::ShardId> requested = {};               // may have requests
    bool more = false;                                  // there may be more to do at once
    std::optional<Clock::Time> look_at = std::nullopt;  // at the followers, at the latest
    Status failed = OkStatus();                         // why the last look failed
  };

  Status MakeFollowers(const App& app) REQUIRES(followers_mutex_);
  Status MakeFollowersNow(const std::shared_ptr<const App>& app) EXCLUDES(followers_mutex_);
  Result<Configured> Load(const Order& order);
  void AddChangeStarts(const flow::Flow& flow, db::ShardId shard, Configured* configured);
  Status AddSchedule(const flow::Flow& flow, Configured* configured);

  void OnCommitted(db::ShardId shard, const db::Committed& committed);
  void Loop();
  // Waits until there may be something to do. False: the thread is to end.
  bool WaitForWork(const Progress& progress, uint64_t seen);
  bool IsOrdered(const Progress& progress) const;
  Order TakeOrder();
  // Looks at all causes of starts once, and starts the runs.
  void Look(const Order& order, Progress& progress);
  Status LoadOrder(const Order& order, Progress& progress);
  // These return whether there may be more to do at once.
  // `look_at` is moved forward to the time of the follower's next look, if that is earlier.
  static Result<bool> Follow(ChangeStarts& changes, std::optional<Clock::Time>* look_at);
  Result<bool> RunSchedule(const Configured& configured, Schedule& schedule);
  enum class Requests : uint8_t { kTaken, kMore, kWait };
  Result<Requests> TakeRequests(const Configured& configured, db::ShardId shard,
                                db::RowFamily family, std::string_view prefix);
  Result<bool> MayComeWithAnotherApp(const App& app) const;
  Result<bool> TakeAllRequests(const Order& order, Progress& progress);
  // `removal` removes the request's row.
  Status TakeRequest(const Configured& configured, outbox::FlowRequest request, db::Commit removal);
  Status StatusIfNotBegun(const std::string& run, const Status& refused) const;
  db::ShardId ShardOf(const Autostart& autostart) const;
  // Starts the autostarts of these numbers, and removes each of them.
  Result<bool> RunAutostarts(const Order& order, const Configured& configured,
                             std::set<size_t>* numbers);
  Status RunAutostart(const Configured& configured, size_t index);
  Status LaunchOnce(const Configured& configured, const flow::Flow& flow, std::string key,
                    flow::Start start);

  const Services& services_;
  db::Database& database_;
  Engine& engine_;
  const IsStored is_stored_;

  // The followers in the catalog are those of the ordered app. Held across changes of the catalog.
  Mutex followers_mutex_;
  Locked<Order> order_;
  Signal wake_;   // a commit, or another order; closed by Stop
  Signal taken_;  // for Lost: the thread has taken an order; closed when the thread ends
  Locked<uint64_t> taken_number_;
  std::vector<std::shared_ptr<void>> subscriptions_;  // by shard
  Thread thread_;
};

}  // namespace sluice::flow_engine
