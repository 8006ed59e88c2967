// The thread that starts runs. Each round (Look) visits all causes in turn: the followers of flows
// with `on`, schedules, requests of user code, autostarts. Rows of the family `run`:
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

Starts::Starts(const Services& services, Engine& engine)
    : services_(services),
      database_(services.function.database),
      engine_(engine),
      commits_(database_),
      wake_(services.function.clock) {}

Starts::~Starts() { Stop(); }

void Starts::Start() {
  subscription_ = commits_.SubscribeToAll([this](const db::Committed& committed) {
    const bool requested = outbox::flow_requests_made != requests_seen_;
    if (!committed.keyspaces.empty() || requested) wake_.Wake();
  });
  thread_ = Thread({"flow starts"}, [this] { Loop(); });
}

void Starts::Stop() {
  wake_.Close();
  if (thread_.joinable()) thread_.join();
  subscription_.reset();
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
  RETURN_IF_ERROR(MakeFollowers(*app));
  {
    const auto order = order_.Lock();
    std::swap(order->app, app);  // the old one ends after the lock
    order->load = true;
    if (autostarts == Autostarts::kRun) order->autostart = true;
  }
  wake_.Wake();
  return OkStatus();
}

void Starts::AddChangeStarts(const flow::Flow& flow, Configured* configured) {
  if (database_.catalog()->FindFollower(FollowerOf(flow)) == nullptr) return;
  for (db::ShardId shard = 0; shard < database_.shard_count(); ++shard) {
    configured->changes.push_back(
        std::make_unique<ChangeStarts>(services_, engine_, configured->app, flow, shard));
  }
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

Result<Starts::Configured> Starts::Load(std::shared_ptr<const App> app) {
  Configured configured{.app = std::move(app), .changes = {}, .schedules = {}};
  for (const auto& [id, flow] : configured.app->flows->flows()) {
    if (!flow->start.on.empty()) AddChangeStarts(*flow, &configured);
    if (flow->start.scheduled()) RETURN_IF_ERROR(AddSchedule(*flow, &configured));
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

Result<bool> Starts::TakeRequests(const Configured& configured) {
  // Those that are made but not committed yet are looked for again.
  const uint64_t made = outbox::flow_requests_made;
  const std::string prefix(outbox::kFlowRequestPrefix);
  const auto rows =
      database_.rows().NewIteratorOfAll(Family::kRun, {.from = prefix, .to = PrefixEnd(prefix)});
  size_t taken = 0;
  for (rows->SeekToFirst(); rows->Valid() && taken < kMostAtOnce; rows->Next(), ++taken) {
    ASSIGN_OR_RETURN(outbox::FlowRequest request, outbox::DecodeFlowRequest(rows->value()));
    // The next round loads an app that is newer than this round's, and it may have the flow.
    const bool known = configured.app->flows->Find(request.flow) != nullptr;
    if (!known && order_.Lock()->app != configured.app) return true;
    db::Commit removal;
    removal.shard = rows->shard();
    removal.rows.push_back(
        RunRow(std::string(rows->key()), std::nullopt, std::string(rows->value())));
    RETURN_IF_ERROR(TakeRequest(configured, std::move(request), std::move(removal)));
  }
  RETURN_IF_ERROR(rows->status());
  if (taken > 0) requests_seen_ = made;
  return taken == kMostAtOnce;
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

Result<bool> Starts::RunAutostarts(const Configured& configured, size_t* next) {
  for (; *next < configured.app->options.autostart.size(); ++*next) {
    if (engine_.full()) {
      return Fail(Code::kOverloaded, "flow.overloaded",
                  "the server has as many runs in memory as it may");
    }
    RETURN_IF_ERROR(RunAutostart(configured, *next));
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
    // Commits do not end the pause.
    const Clock::Time until = now + ChangeStarts::kPauseAfterFailure;
    auto waited = Signal::Waited::kNews;
    while (waited == Signal::Waited::kNews) waited = wake_.Wait(wake_.news(), until);
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

void Starts::Loop() {
  Progress progress;
  uint64_t seen = 0;
  while (WaitForWork(progress, seen)) {
    seen = wake_.news();
    Order order;
    {
      const auto ordered = order_.Lock();
      order = *ordered;
      ordered->load = false;
      ordered->autostart = false;
    }
    if (order.app != nullptr) Look(order, progress);
  }
}

void Starts::Look(const Order& order, Progress& progress) {
  if (order.autostart) progress.autostarted = 0;
  const bool load = order.load || !progress.failed.ok();
  progress.failed = OkStatus();
  progress.more = false;
  progress.look_at.reset();
  const auto note = [&](const Result<bool>& result) {
    if (!result) progress.failed = result.error();
    progress.more = progress.more || (result && *result);
  };
  if (load) {
    auto loaded = Load(order.app);
    if (loaded) progress.configured = std::move(*loaded);
    if (!loaded) progress.failed = loaded.error();
  }
  Configured& configured = progress.configured;
  if (progress.failed.ok()) {
    for (const auto& changes : configured.changes) note(Follow(*changes, &progress.look_at));
    for (Schedule& schedule : configured.schedules) note(RunSchedule(configured, schedule));
    note(TakeRequests(configured));
    note(RunAutostarts(configured, &progress.autostarted));
  }
  // Too many runs, or a database that can't write: the next round reads the same again.
  if (!progress.failed.ok() && progress.failed.code() != Code::kOverloaded) {
    log::Error("flows can't be started", {{"error", progress.failed.ToString()}});
  }
}

}  // namespace sluice::flow_engine
