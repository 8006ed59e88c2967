// The thread that starts runs. Each round (Look) visits all causes in turn: the followers of flows
// with `on`, schedules, requests of user code, autostarts; each in the shards that this server
// owns. Rows of the family `run`:
//
//   c<flow>            the next time of a schedule; written in the commit that starts a run
//   b<flow>/<number>   the last run of a durable autostart, so that a restart does not start
//   another
//
// They are in the shard of the flow's id. The ids of runs that begin in such a commit, or in one
// that moves a follower's cursor, are chosen so that the runs belong to the same shard.
//
// A failure, such as too many runs or a database that can't write, ends nothing: the thread loads
// the stored positions again after a pause and goes on from there. A commit wakes the thread if it
// changed documents or made a request; otherwise it looks again after kPoll at the latest.
//
// The thread takes what others order at the beginning of a round: which app, and which shards. So
// when it has taken an order without a shard, it does not work there any more: Lost waits for that.
#include "flow_engine/starts.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/bytes.h"
#include "base/log.h"
#include "base/random.h"
#include "db/catalog_rows.h"
#include "flow/text_form.h"
#include "json/parse.h"
#include "outbox/flow_request.h"

namespace sluice::flow_engine {
namespace {

using json::Value;
using Family = db::RowFamily;

constexpr std::string_view kShardsAway = "catalog.shards_away";
constexpr size_t kMostAtOnce = 64;
constexpr std::chrono::milliseconds kPoll(1000);

std::string ScheduleKey(const flow::Flow& flow) { return "c" + flow.id; }
// The number counts entries of the same flow.
std::string AutostartKey(const flow::Flow& flow, int64_t number) {
  return fmt::format("b{}/{}", flow.id, number);
}

// The first time of a schedule after this one.
uint64_t NextTime(const flow::AutoStart& start, uint64_t after_ms) {
  if (start.cron) return start.cron->After(after_ms).value_or(UINT64_MAX);
  return after_ms - after_ms % start.every_ms + start.every_ms;
}

// A run that never began, so that people see why.
void AddUnknown(const outbox::FlowRequest& request, uint64_t now_ms, db::Commit* commit) {
  RunHead head;
  head.id = request.run;
  head.flow = request.flow;
  head.origin = "call";
  head.phase = RunPhase::kFailed;
  head.created_ms = now_ms;
  head.ended_ms = now_ms;
  head.status = 404;
  head.message = fmt::format("Flow {} not found", request.flow);
  commit->rows.push_back(RunRow(HeadKey(head.id), EncodeHead(head), std::optional<std::string>()));
  const RunMachine none{.next_step = 1, .at_ms = now_ms, .text = "{}"};
  commit->rows.push_back(RunRow(MachineKey(head.id), EncodeMachine(none)));
}

std::string EncodeSchedule(const flow::AutoStart& start, uint64_t next_ms) {
  return db::EncodeMetaJson(
      Value::Object({{"schedule", start.schedule}, {"next_ms", Value::Unsigned(next_ms)}}));
}

}  // namespace

void CheckStarts(const App& app, const Services& services, Missing missing,
                 flow::Problems* problems) {
  for (const auto& [id, flow] : app.flows->flows()) {
    if (flow->start.on.empty()) continue;
    const auto bad = [&](const Status& why) {
      const Status status =
          Error(Code::kInvalidArgument, "flow.bad_start", "flow.on: {}", why.message())
              .At(flow->start.place);
      missing == Missing::kWasDropped ? problems->AddWarning(status) : problems->AddError(status);
    };
    const auto name = db::KeyspaceName::Parse(flow->start.on);
    const bool declared =
        missing == Missing::kMayBeDeclared && name && app.declared.contains(*name);
    if (!name) {
      bad(name.error());
    } else if (const auto keyspace = services.function.database.Resolve(*name);
               !keyspace && !declared) {
      bad(keyspace.error());
    }
    if (flow->start.filter.empty()) continue;
    const auto plan = services.queries.Prepare(FilterStatement(*flow), {});
    if (!plan) bad(plan.error().Prefixed("the filter"));
  }
}

Starts::Starts(const Services& services, Engine& engine, IsStored is_stored)
    : services_(services),
      database_(services.function.database),
      engine_(engine),
      is_stored_(std::move(is_stored)),
      wake_(services.function.clock) {}

Starts::~Starts() { Stop(); }

// It is a tenant first, so the thread begins with all shards that are owned now.
void Starts::Start() {
  for (db::ShardId shard = 0; shard < database_.shard_count(); ++shard) {
    subscriptions_.push_back(database_.followers().OnCommitted(
        shard, [this, shard](const db::Committed& committed) { OnCommitted(shard, committed); }));
  }
  database_.ownership().Add(this);
  thread_ = Thread({"flow starts"}, [this] { Loop(); });
}

void Starts::Stop() {
  database_.ownership().Remove(this);
  wake_.Close();
  if (thread_.joinable()) thread_.join();
  subscriptions_.clear();
}

void Starts::OnCommitted(db::ShardId shard, const db::Committed& committed) {
  const bool requested = outbox::NamesFlowRequest(committed.meta_keys);
  if (requested) order_.Lock()->requested.insert(shard);
  if (requested || !committed.keyspaces.empty()) wake_.Wake();
}

void Starts::Gained(db::ShardId shard) {
  {
    const auto order = order_.Lock();
    ++order->number;
    order->shards.insert(shard);
    order->autostart.insert(shard);
    order->load = true;
  }
  wake_.Wake();
}

void Starts::Lost(db::ShardId shard) {
  uint64_t number = 0;
  {
    const auto order = order_.Lock();
    number = ++order->number;
    order->shards.erase(shard);
    order->autostart.erase(shard);
    order->load = true;
  }
  wake_.Wake();
  auto waited = Signal::Waited::kNews;
  while (waited != Signal::Waited::kClosed) {
    const uint64_t seen = taken_.news();
    if (taken_number_.Copy() >= number) return;
    waited = taken_.Wait(seen);
  }
}

// Makes the followers of flows with `on`, and drops those of other flows. A missing keyspace is no
// error here: CheckStarts reports it.
Status Starts::MakeFollowers(const App& app) {
  const auto catalog = database_.catalog();
  std::map<std::string, db::KeyspaceId> wanted;
  for (const auto& [id, flow] : app.flows->flows()) {
    if (flow->start.on.empty()) continue;
    ASSIGN_OR_RETURN(const auto name, db::KeyspaceName::Parse(flow->start.on));
    const auto keyspace = database_.Resolve(name);
    if (keyspace) wanted[FollowerOf(*flow)] = *keyspace;
  }
  for (const auto& [name, follower] : catalog->followers()) {
    if (!name.starts_with(kFlowFollowers)) continue;
    const auto found = wanted.find(name);
    const bool same = found != wanted.end() && follower.keyspaces.size() == 1 &&
                      follower.keyspaces[0] == found->second;
    if (same) {
      wanted.erase(found);
    } else {
      RETURN_IF_ERROR(database_.followers().Drop(name));
    }
  }
  for (const auto& [name, keyspace] : wanted) {
    RETURN_IF_ERROR(database_.followers().Create(
        {.name = name, .keyspaces = {keyspace}, .pattern = {}, .needs_before = true}));
  }
  return OkStatus();
}

Status Starts::Configure(std::shared_ptr<const App> app, Autostarts autostarts) {
  const MutexLock one(followers_mutex_);
  const Status made = MakeFollowers(*app);
  if (!made.ok() && made.id() != kShardsAway) return made;
  {
    const auto order = order_.Lock();
    ++order->number;
    std::swap(order->app, app);  // the old one ends after the lock
    order->load = true;
    order->make_followers = !made.ok();
    if (autostarts == Autostarts::kRun) {
      order->anew = true;
      order->autostart = order->shards;
    }
  }
  wake_.Wake();
  return OkStatus();
}

// Followers that could not be made when the app was ordered. OK if they still can't, or if another
// app is ordered now.
Status Starts::MakeFollowersNow(const std::shared_ptr<const App>& app) {
  const MutexLock one(followers_mutex_);
  if (order_.Lock()->app != app) return OkStatus();
  const Status made = MakeFollowers(*app);
  if (made.ok()) order_.Lock()->make_followers = false;
  return made.id() == kShardsAway ? OkStatus() : made;
}

void Starts::AddChangeStarts(const flow::Flow& flow, db::ShardId shard, Configured* configured) {
  if (database_.catalog()->FindFollower(FollowerOf(flow)) == nullptr) return;
  configured->changes.push_back(
      std::make_unique<ChangeStarts>(services_, engine_, configured->app, flow, shard));
}

Status Starts::AddSchedule(const flow::Flow& flow, Configured* configured) {
  Schedule schedule{.flow = &flow};
  ASSIGN_OR_RETURN(const bool found,
                   database_.rows().Get(Family::kRun, database_.ShardOfKey(flow.id),
                                        ScheduleKey(flow), &schedule.row));
  if (found) {
    ASSIGN_OR_RETURN(const Value value, db::DecodeMetaJson(ScheduleKey(flow), schedule.row));
    if (value["schedule"] == Value(flow.start.schedule) && value["next_ms"].is_int()) {
      schedule.next_ms = static_cast<uint64_t>(value["next_ms"].AsInt());
    }
  }
  if (schedule.next_ms == 0) {
    schedule.next_ms = NextTime(flow.start, services_.function.clock.WallMs());
    schedule.row = EncodeSchedule(flow.start, schedule.next_ms);
    db::Commit commit;
    commit.shard = database_.ShardOfKey(flow.id);
    commit.rows.push_back(RunRow(ScheduleKey(flow), schedule.row));
    RETURN_IF_ERROR(database_.Apply(std::move(commit)).status);
  }
  configured->schedules.push_back(std::move(schedule));
  return OkStatus();
}

Result<Starts::Configured> Starts::Load(const Order& order) {
  Configured configured{.app = order.app, .changes = {}, .schedules = {}};
  for (const auto& [id, flow] : configured.app->flows->flows()) {
    if (!flow->start.on.empty()) {
      for (const db::ShardId shard : order.shards) AddChangeStarts(*flow, shard, &configured);
    }
    if (flow->start.scheduled() && order.shards.contains(database_.ShardOfKey(id))) {
      RETURN_IF_ERROR(AddSchedule(*flow, &configured));
    }
  }
  return configured;
}

Result<bool> Starts::Follow(ChangeStarts& changes, std::optional<Clock::Time>* look_at) {
  using State = follow::SerialFollower::Stepped::State;
  const auto stepped = changes.Step();
  if (stepped.state == State::kEnded) return Unexpected(stepped.why);
  if (stepped.until && (!*look_at || *stepped.until < **look_at)) *look_at = stepped.until;
  return stepped.state == State::kWorked;
}

// One run makes up for all times that passed while no server ran.
Result<bool> Starts::RunSchedule(const Configured& configured, Schedule& schedule) {
  const uint64_t now_ms = services_.function.clock.WallMs();
  if (schedule.next_ms > now_ms) return false;
  const uint64_t next_ms = NextTime(schedule.flow->start, now_ms);
  std::string row = EncodeSchedule(schedule.flow->start, next_ms);
  db::Commit commit;
  commit.shard = database_.ShardOfKey(schedule.flow->id);
  commit.rows.push_back(RunRow(ScheduleKey(*schedule.flow), row, schedule.row));
  Value body = Value::Object(
      {{"schedule", schedule.flow->start.schedule}, {"due_ms", Value::Unsigned(schedule.next_ms)}});
  std::vector<Engine::Launch> launches;
  launches.push_back({configured.app, StartWith(*schedule.flow, std::move(body)), "schedule"});
  ASSIGN_OR_RETURN(const auto ids, engine_.LaunchAll(std::move(launches), std::move(commit)));
  schedule.row = std::move(row);
  schedule.next_ms = next_ms;
  return false;
}

Result<bool> Starts::TakeAllRequests(const Order& order, Progress& progress) {
  bool more = false;
  for (auto next = progress.requested.begin(); next != progress.requested.end();) {
    const db::ShardId shard = *next;
    bool all = true;
    for (const auto& [family, prefix] : {std::pair(Family::kMeta, outbox::kFlowRequestPrefix),
                                         std::pair(Family::kRun, outbox::kOldFlowRequestPrefix)}) {
      if (!order.shards.contains(shard)) break;
      ASSIGN_OR_RETURN(const Requests taken,
                       TakeRequests(progress.configured, shard, family, prefix));
      all = all && taken == Requests::kTaken;
      more = more || taken == Requests::kMore;
    }
    next = all ? progress.requested.erase(next) : std::next(next);
  }
  return more;
}

Result<Starts::Requests> Starts::TakeRequests(const Configured& configured, db::ShardId shard,
                                              Family family, std::string_view prefix) {
  const auto rows = database_.rows().NewIterator(
      family, shard, {.from = std::string(prefix), .to = PrefixEnd(prefix)});
  const std::set<db::ShardId> open = engine_.shards();
  size_t taken = 0;
  for (rows->SeekToFirst(); rows->Valid() && taken < kMostAtOnce; rows->Next()) {
    ASSIGN_OR_RETURN(outbox::FlowRequest request, outbox::DecodeFlowRequest(rows->value()));
    if (configured.app->flows->Find(request.flow) == nullptr) {
      ASSIGN_OR_RETURN(const bool waits, MayComeWithAnotherApp(*configured.app));
      if (waits) return Requests::kWait;
    }
    // It waits until this server owns the run's shard, too.
    if (!open.contains(database_.ShardOfKey(request.run))) continue;
    db::Commit removal;
    removal.shard = shard;
    removal.rows.push_back({family, std::nullopt, std::string(rows->key()), std::nullopt,
                            std::optional<std::string>(rows->value())});
    RETURN_IF_ERROR(TakeRequest(configured, std::move(request), std::move(removal)));
    ++taken;
  }
  RETURN_IF_ERROR(rows->status());
  return taken == kMostAtOnce ? Requests::kMore : Requests::kTaken;
}

// The next round may load an app that is newer than this round's. On a server that has just gained
// the shard, that app may be stored, and be compiled still.
Result<bool> Starts::MayComeWithAnotherApp(const App& app) const {
  if (order_.Lock()->app.get() != &app) return true;
  ASSIGN_OR_RETURN(const bool stored, is_stored_(app));
  return !stored;
}

Status Starts::TakeRequest(const Configured& configured, outbox::FlowRequest request,
                           db::Commit removal) {
  const flow::Flow* const flow = configured.app->flows->Find(request.flow);
  flow::Start start;
  start.flow = request.flow;
  start.input = std::move(request.input);
  start.run = request.run;
  start.cid = request.run;
  TraceLink trace = ParseTraceParent(request.trace).value_or(TraceLink());
  if (flow != nullptr && !flow->durable) {
    RETURN_IF_ERROR(database_.Apply(std::move(removal)).status);
    engine_.Start(configured.app, std::move(start), [](const Reply&) {}, "call", 0,
                  {.trace = std::move(trace)});
    return OkStatus();
  }
  // The run's rows belong to the shard of its id. If that is the request's, they are one commit.
  // Otherwise the run is stored first; after a crash it is found, and not begun a second time.
  db::Commit run;
  run.shard = database_.ShardOfKey(request.run);
  const bool together = run.shard == removal.shard;
  if (together) run = std::exchange(removal, {});
  if (flow == nullptr) {
    log::Error("code started a flow that does not exist",
               {{"flow", request.flow}, {"run", request.run}});
    AddUnknown(request, services_.function.clock.WallMs(), &run);
    const Status noted = database_.Apply(std::move(run)).status;
    if (!noted.ok()) RETURN_IF_ERROR(StatusIfNotBegun(request.run, noted));
  } else {
    std::vector<Engine::Launch> launches;
    launches.push_back({configured.app, std::move(start), "call", std::move(trace)});
    const auto ids = engine_.LaunchAll(std::move(launches), std::move(run));
    if (!ids) RETURN_IF_ERROR(StatusIfNotBegun(request.run, ids.error()));
  }
  return together ? OkStatus() : database_.Apply(std::move(removal)).status;
}

// OK if the run was refused because it is stored already.
Status Starts::StatusIfNotBegun(const std::string& run, const Status& refused) const {
  if (refused.code() != Code::kConflict) return refused;
  std::string head;
  ASSIGN_OR_RETURN(const bool found, database_.rows().Get(Family::kRun, database_.ShardOfKey(run),
                                                          HeadKey(run), &head));
  return found ? OkStatus() : refused;
}

db::ShardId Starts::ShardOf(const Autostart& autostart) const {
  const std::string flow = autostart.flow();
  return database_.ShardOfKey(flow.empty() ? autostart.target : flow);
}

Result<bool> Starts::RunAutostarts(const Order& order, const Configured& configured,
                                   std::set<size_t>* numbers) {
  while (!numbers->empty()) {
    if (engine_.full()) {
      return Fail(Code::kOverloaded, "flow.overloaded",
                  "the server has as many runs in memory as it may");
    }
    const size_t number = *numbers->begin();
    if (order.shards.contains(ShardOf(configured.app->options.autostart[number]))) {
      RETURN_IF_ERROR(RunAutostart(configured, number));
    }
    numbers->erase(number);
  }
  return false;
}

Status Starts::RunAutostart(const Configured& configured, size_t index) {
  constexpr uint64_t kTimeoutMs = 300'000;
  const std::vector<Autostart>& all = configured.app->options.autostart;
  const Autostart& autostart = all[index];
  const Value headers = Value::Object({{"type", "start"}});
  const flow::Flow* const flow = configured.app->flows->Find(autostart.flow());
  Value input = autostart.input;
  if (flow != nullptr && input.Find("header") == nullptr) input.Set("header", headers);
  if (flow != nullptr && flow->durable) {
    flow::Start start;
    start.flow = flow->id;
    start.input = std::move(input);
    const auto before =
        std::count_if(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(index),
                      [&](const Autostart& each) { return each.target == autostart.target; });
    return LaunchOnce(configured, *flow, AutostartKey(*flow, before), std::move(start));
  }
  const auto done = [target = autostart.target](const Reply& reply) {
    if (reply.status < 400) return;
    const Value& message = reply.body["message"];
    LogAutostartFailure(target, reply.status,
                        flow::TextOf(message.is_missing() ? reply.body : message));
  };
  engine_.Tell(configured.app, autostart.target, headers, std::move(input), kTimeoutMs,
               kAutostartOrigin, {}, done);
  return OkStatus();
}

// The run that was started last is the one of this start, too, if it has not ended.
Status Starts::LaunchOnce(const Configured& configured, const flow::Flow& flow, std::string key,
                          flow::Start start) {
  const db::ShardId shard = database_.ShardOfKey(flow.id);
  std::string row;
  ASSIGN_OR_RETURN(const bool found, database_.rows().Get(Family::kRun, shard, key, &row));
  if (found) {
    ASSIGN_OR_RETURN(const Value value, db::DecodeMetaJson(key, row));
    const std::string last(value["run"].is_string() ? value["run"].AsString() : "");
    std::string live;
    ASSIGN_OR_RETURN(
        const bool running,
        database_.rows().Get(Family::kRun, database_.ShardOfKey(last), LiveKey(last), &live));
    if (running) {
      log::Info("an autostart continues its run", {{"flow", flow.id}, {"run", last}});
      return OkStatus();
    }
  }
  start.run = outbox::NewRunId(database_, shard);
  start.cid = start.run;
  db::Commit commit;
  commit.shard = shard;
  std::optional<std::string> before;
  if (found) before = std::move(row);
  commit.rows.push_back(RunRow(
      std::move(key), db::EncodeMetaJson(Value::Object({{"run", start.run}})), std::move(before)));
  std::vector<Engine::Launch> launches;
  launches.push_back({configured.app, std::move(start), std::string(kAutostartOrigin)});
  ASSIGN_OR_RETURN(const auto ids, engine_.LaunchAll(std::move(launches), std::move(commit)));
  return OkStatus();
}

bool Starts::WaitForWork(const Progress& progress, uint64_t seen) {
  const Clock& clock = services_.function.clock;
  const Clock::Time now = clock.Now();
  if (!progress.failed.ok()) {
    // Orders end the pause, and commits do not.
    const Clock::Time until = now + ChangeStarts::kPauseAfterFailure;
    auto waited = Signal::Waited::kNews;
    while (waited == Signal::Waited::kNews) {
      const uint64_t news = wake_.news();
      if (IsOrdered(progress)) return true;
      waited = wake_.Wait(news, until);
    }
    return waited != Signal::Waited::kClosed;
  }
  if (progress.more) return !wake_.closed();
  Clock::Time until = now + kPoll;
  if (progress.look_at) until = std::min(until, *progress.look_at);
  const uint64_t now_ms = clock.WallMs();
  for (const Schedule& schedule : progress.configured.schedules) {
    const uint64_t left_ms = schedule.next_ms > now_ms ? schedule.next_ms - now_ms : 1;
    until = std::min(until, now + std::chrono::milliseconds(std::min<uint64_t>(left_ms, 1000)));
  }
  return wake_.Wait(seen, until) != Signal::Waited::kClosed;
}

bool Starts::IsOrdered(const Progress& progress) const {
  return order_.Lock()->number != progress.order;
}

// What it says to do is done from here on, and said once.
Starts::Order Starts::TakeOrder() {
  Order taken;
  {
    const auto ordered = order_.Lock();
    taken = *ordered;
    ordered->load = false;
    ordered->anew = false;
    ordered->autostart.clear();
    ordered->requested.clear();
  }
  *taken_number_.Lock() = taken.number;
  taken_.Wake();
  return taken;
}

void Starts::Loop() {
  Progress progress;
  uint64_t seen = 0;
  while (WaitForWork(progress, seen)) {
    seen = wake_.news();
    const Order order = TakeOrder();
    progress.order = order.number;
    if (order.anew) progress.autostarts.clear();
    progress.autostart.insert(order.autostart.begin(), order.autostart.end());
    progress.requested.insert(order.requested.begin(), order.requested.end());
    if (order.app != nullptr) Look(order, progress);
  }
  taken_.Close();
}

// Requests may have been made, and autostarts not run, while the positions were not known.
Status Starts::LoadOrder(const Order& order, Progress& progress) {
  if (order.make_followers) RETURN_IF_ERROR(MakeFollowersNow(order.app));
  ASSIGN_OR_RETURN(progress.configured, Load(order));
  progress.requested.insert(order.shards.begin(), order.shards.end());
  const std::vector<Autostart>& all = order.app->options.autostart;
  for (size_t i = 0; i < all.size(); ++i) {
    if (progress.autostart.contains(ShardOf(all[i]))) progress.autostarts.insert(i);
  }
  progress.autostart.clear();
  return OkStatus();
}

void Starts::Look(const Order& order, Progress& progress) {
  const bool load = order.load || !progress.failed.ok();
  progress.failed = OkStatus();
  progress.more = false;
  progress.look_at.reset();
  const auto note = [&](const Result<bool>& result) {
    if (!result) progress.failed = result.error();
    progress.more = progress.more || (result && *result);
  };
  if (load) progress.failed = LoadOrder(order, progress);
  Configured& configured = progress.configured;
  if (progress.failed.ok()) {
    for (const auto& changes : configured.changes) note(Follow(*changes, &progress.look_at));
    for (Schedule& schedule : configured.schedules) note(RunSchedule(configured, schedule));
    note(TakeAllRequests(order, progress));
    note(RunAutostarts(order, configured, &progress.autostarts));
  }
  // Too many runs, or a database that can't write: the next round reads the same again.
  if (!progress.failed.ok() && progress.failed.code() != Code::kOverloaded) {
    log::Error("flows can't be started", {{"error", progress.failed.ToString()}});
  }
}

}  // namespace sluice::flow_engine
