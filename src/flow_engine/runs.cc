#include "flow_engine/runs.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/bytes.h"
#include "base/log.h"
#include "db/catalog_rows.h"
#include "flow/portable.h"
#include "flow/run_codec.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::flow_engine {
namespace {

using json::Value;
using Family = db::RowFamily;

Status NotFound(std::string_view id) {
  return Error(Code::kNotFound, "flow.run_not_found", "there is no run '{}'", id);
}

// What the run waits for, of its stored state.
Value WaitingOf(const Value& state) {
  Value list = Value::EmptyArray();
  for (const Value& call : state["calls"].items()) {
    if (!call["child"].is_missing()) continue;
    Value each = Value::Object({{"task", call["task"]}});
    for (const Value& frame : state["frames"].items()) {
      if (frame["id"] == call["frame"]) each.Set("flow", frame["flow"]);
    }
    for (const auto& [field, name] : {std::pair("headers", "headers"), std::pair("body", "input"),
                                      std::pair("send", "send_ms"), std::pair("due", "due_ms")}) {
      if (!call[field].is_missing()) each.Set(name, call[field]);
    }
    list.Append(std::move(each));
  }
  return list;
}

// The model of the flow that was started.
Value ModelOf(const Value& state) {
  for (const Value& frame : state["frames"].items()) {
    if (frame["id"] == state["root"]) return frame["model"];
  }
  return state["model"];
}

// Whether the flow that was started has come to its end.
bool IsOver(const Value& state) {
  for (const Value& frame : state["frames"].items()) {
    if (frame["id"] == state["root"]) return frame["over"] == Value(true);
  }
  return true;
}

// When a run goes on that waits for nothing but time, by its stored state.
std::optional<uint64_t> WaitsUntil(const Value& state) {
  std::optional<uint64_t> least;
  const auto consider = [&](const Value& time) {
    if (!time.is_int()) return;
    const auto at_ms = static_cast<uint64_t>(time.AsInt());
    if (!least || at_ms < *least) least = at_ms;
  };
  for (const Value& call : state["calls"].items()) {
    if (call["child"].is_missing() && call["send"].is_missing()) return std::nullopt;
    consider(call["send"]);
    consider(call["due"]);
  }
  for (const Value& frame : state["frames"].items()) consider(frame["due"]);
  return least;
}

}  // namespace

Runs::Runs(const Services& services, Engine& engine, CurrentApp current, RunRetention retention)
    : services_(services),
      database_(services.function.database),
      engine_(engine),
      current_(std::move(current)),
      retention_(retention),
      parked_(services.function.clock, [this](const std::string& id) { return Wake(id); }) {
  engine_.OnPark([this](const std::string& id, uint64_t due_ms) { parked_.Add(id, due_ms); });
}

Runs::~Runs() { Stop(); }

Status Runs::Start() {
  std::vector<std::string> live;
  const auto rows = database_.rows().NewIterator(
      Family::kRun, {.from = std::string(kLivePrefix), .to = PrefixEnd(kLivePrefix)});
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    live.emplace_back(rows->key().substr(kLivePrefix.size()));
  }
  RETURN_IF_ERROR(rows->status());
  std::map<std::string, std::vector<GivenUpCall>> given_up;
  if (const function::UnderWay* const under_way = engine_.options().under_way) {
    ASSIGN_OR_RETURN(given_up, CountCrashes(database_, *under_way));
  }
  for (const std::string& id : live) {
    const Status status = ResumeOrPark(id, std::move(given_up[id]));
    if (!status.ok()) RETURN_IF_ERROR(GiveUp(id, status));
  }
  if (!live.empty()) log::Info("durable runs continue", {{"runs", live.size()}});
  sweeper_ = Thread({"flow sweeper"}, [this] { SweepLoop(); });
  parked_.Start();
  return OkStatus();
}

Status Runs::ResumeOrPark(const std::string& id, std::vector<GivenUpCall> given_up) {
  ASSIGN_OR_RETURN(const RunMachine machine, ReadMachine(id));
  ASSIGN_OR_RETURN(const Value state, json::Parse(machine.text));
  std::optional<uint64_t> until_ms = WaitsUntil(state);
  const uint64_t now_ms = engine_.NowMs();
  // As Engine::Resume does when the clock was set back.
  if (until_ms && machine.at_ms > now_ms) *until_ms -= std::min(*until_ms, machine.at_ms - now_ms);
  const uint64_t park_after_ms = engine_.options().park_after_ms;
  if (!until_ms || park_after_ms == 0 || *until_ms <= now_ms + park_after_ms) {
    return ResumeOne(id, std::move(given_up));
  }
  parked_.Add(id, *until_ms);
  return OkStatus();
}

// A run whose time has come.
bool Runs::Wake(const std::string& id) {
  if (engine_.full()) return false;
  Status status = ResumeOne(id);
  if (!status.ok()) status = GiveUp(id, status);
  if (!status.ok()) log::Error("a run can't be ended", {{"run", id}, {"error", status.ToString()}});
  return true;
}

Status Runs::ResumeOne(const std::string& id, std::vector<GivenUpCall> given_up) {
  StoredRun run;
  ASSIGN_OR_RETURN(run.head, ReadHead(id));
  ASSIGN_OR_RETURN(run.machine, ReadMachine(id));
  ASSIGN_OR_RETURN(run.input, ReadInput(id));
  ASSIGN_OR_RETURN(auto app, AppOf(run.head.app));
  return engine_.Resume(std::move(app), run, std::move(given_up));
}

// A run that can't go on is not lost: it is told why, and may be retried.
Status Runs::GiveUp(const std::string& id, const Status& why) {
  log::Error("a run can't continue", {{"run", id}, {"error", why.ToString()}});
  db::Commit commit;
  commit.rows.push_back({Family::kRun, LiveKey(id), std::nullopt, std::nullopt});
  if (auto head = ReadHead(id)) {
    head->phase = RunPhase::kFailed;
    head->ended_ms = services_.function.clock.WallMs();
    head->status = 500;
    head->message = why.ToString();
    if (const auto machine = ReadMachine(id)) head->steps = machine->next_step - 1;
    commit.rows.push_back({Family::kRun, HeadKey(id), EncodeHead(*head), std::nullopt});
  }
  return database_.Apply(std::move(commit)).status;
}

void Runs::Note(const std::shared_ptr<const App>& app) {
  const std::lock_guard lock(mutex_);
  apps_[app->version] = app;
}

Result<std::shared_ptr<const App>> Runs::AppOf(const std::string& version) {
  std::shared_ptr<const App> current = current_();
  if (current->version == version) return current;
  {
    const std::lock_guard lock(mutex_);
    const auto found = apps_.find(version);
    if (found != apps_.end()) {
      if (auto app = found->second.lock()) return app;
    }
  }
  std::string row;
  ASSIGN_OR_RETURN(const bool found, database_.rows().Get(Family::kRun, AppKey(version), &row));
  if (!found) return current;  // of a finished run: what there is now must do
  ASSIGN_OR_RETURN(const Value value, db::DecodeMetaJson(AppKey(version), row));
  ASSIGN_OR_RETURN(Bundle bundle, BundleFromJson(value));
  flow::Problems problems;
  std::shared_ptr<const App> app =
      MakeApp(services_, std::move(bundle), version, Missing::kWasDropped, &problems);
  if (app == nullptr) {
    const auto sorted = problems.Sorted();
    return Fail(Code::kInvalidArgument, "flow.app_gone",
                "the files that the run began with can't be compiled any more: {}",
                sorted.empty() ? "" : sorted.front().ToString());
  }
  Note(app);
  return app;
}

Result<RunHead> Runs::ReadHead(const std::string& id) const {
  std::string row;
  ASSIGN_OR_RETURN(const bool found, database_.rows().Get(Family::kRun, HeadKey(id), &row));
  if (!found) return Unexpected(NotFound(id));
  return DecodeHead(id, row);
}

Result<RunMachine> Runs::ReadMachine(const std::string& id) const {
  std::string row;
  ASSIGN_OR_RETURN(const bool found, database_.rows().Get(Family::kRun, MachineKey(id), &row));
  if (!found) return Unexpected(NotFound(id));
  return DecodeMachine(row);
}

Result<Value> Runs::ReadInput(const std::string& id) const {
  std::string row;
  ASSIGN_OR_RETURN(const bool found, database_.rows().Get(Family::kRun, InputKey(id), &row));
  if (!found) return Value();
  return DecodeInput(row);
}

Result<Runs::Page> Runs::List(const Filter& filter) const {
  Page page;
  db::RowRange options{.from = std::string(kHeadPrefix), .to = PrefixEnd(kHeadPrefix)};
  if (!filter.before.empty()) options.to = HeadKey(filter.before);
  const auto rows = database_.rows().NewIterator(Family::kRun, std::move(options));
  for (rows->SeekToLast(); rows->Valid(); rows->Prev()) {
    ASSIGN_OR_RETURN(RunHead head,
                     DecodeHead(rows->key().substr(kHeadPrefix.size()), rows->value()));
    if (!filter.flow.empty() && head.flow != filter.flow) continue;
    if (filter.phase && head.phase != *filter.phase) continue;
    if (page.runs.size() == filter.limit) {
      page.next = page.runs.back().id;
      return page;
    }
    page.runs.push_back(std::move(head));
  }
  RETURN_IF_ERROR(rows->status());
  return page;
}

Result<Value> Runs::Show(const std::string& id) const {
  ASSIGN_OR_RETURN(const RunHead head, ReadHead(id));
  ASSIGN_OR_RETURN(const RunMachine machine, ReadMachine(id));
  ASSIGN_OR_RETURN(const Value state, json::Parse(machine.text));
  Value view = ViewOf(head);
  Value steps = Value::EmptyArray();
  const std::string prefix = StepPrefix(id);
  const auto rows =
      database_.rows().NewIterator(Family::kRun, {.from = prefix, .to = PrefixEnd(prefix)});
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    ASSIGN_OR_RETURN(StoredStep step, DecodeStep(rows->value()));
    steps.Append(std::move(step.view));
  }
  RETURN_IF_ERROR(rows->status());
  view.Set("steps", std::move(steps));
  view.Set("waiting", WaitingOf(state));
  view.Set("model", ModelOf(state));
  return view;
}

Status Runs::Cancel(const std::string& id) {
  ASSIGN_OR_RETURN(RunHead head, ReadHead(id));
  // It may be on its way between the memory and the database.
  constexpr int kMostTries = 1000;
  for (int i = 0; i < kMostTries && head.phase == RunPhase::kRunning; ++i) {
    if (engine_.Cancel(id)) return OkStatus();
    if (parked_.Take(id)) {
      RETURN_IF_ERROR(ResumeOne(id));
      continue;
    }
    ASSIGN_OR_RETURN(head, ReadHead(id));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return Error(Code::kConflict, "flow.run_finished", "the run '{}' is {}", id,
               PhaseName(head.phase));
}

Result<RunMachine> Runs::ReadBefore(const std::string& id, uint32_t step,
                                    const RunMachine& last) const {
  std::string row;
  ASSIGN_OR_RETURN(const bool found, database_.rows().Get(Family::kRun, StepKey(id, step), &row));
  if (!found) {
    return Fail(Code::kNotFound, "flow.step_not_found",
                "the run '{}' has no step {}: expected 1 to {}, of which the last {} are kept", id,
                step, last.next_step - 1, kMaxKeptSteps);
  }
  ASSIGN_OR_RETURN(StoredStep stored, DecodeStep(row));
  if (stored.before) return *std::move(stored.before);
  return Fail(Code::kInvalidArgument, "flow.step_not_kept",
              "the state of the run before step {} was too large to be kept", step);
}

Status Runs::Retry(const std::string& id, std::optional<uint32_t> number) {
  const std::lock_guard lock(retry_mutex_);
  ASSIGN_OR_RETURN(RunHead head, ReadHead(id));
  if (head.phase == RunPhase::kRunning) {
    return Error(Code::kConflict, "flow.run_running", "the run '{}' is running: cancel it first",
                 id);
  }
  // Its end is stored a moment before the engine has done with it.
  while (engine_.IsLive(id)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSIGN_OR_RETURN(const RunMachine last, ReadMachine(id));
  uint32_t step = number.value_or(last.next_step - 1);
  ASSIGN_OR_RETURN(RunMachine before, ReadBefore(id, step, last));
  ASSIGN_OR_RETURN(Value state, json::Parse(before.text));
  // Tasks that ran on after the flow's end are no step to go on from, unless they are asked for.
  while (!number && step > 1 && IsOver(state)) {
    ASSIGN_OR_RETURN(before, ReadBefore(id, --step, last));
    ASSIGN_OR_RETURN(state, json::Parse(before.text));
  }
  ASSIGN_OR_RETURN(Value input, ReadInput(id));
  // What was wrong may have been put right since. The files that it began with are for a run whose
  // flows and tasks are not there any more.
  std::shared_ptr<const App> app = current_();
  auto run = flow::DecodeRun(state, app->flows, app->files.get(), input);
  if (!run) {
    ASSIGN_OR_RETURN(app, AppOf(head.app));
    run = flow::DecodeRun(state, app->flows, app->files.get(), input);
    if (!run) return run.error();
  }
  const uint64_t now_ms = engine_.NowMs();
  run->Postpone(static_cast<int64_t>(now_ms - before.at_ms));
  RunMachine machine{.next_step = before.next_step,
                     .at_ms = now_ms,
                     .text = flow::EncodeRun(*run, input.is_missing() ? flow::RootInput::kWith
                                                                      : flow::RootInput::kWithout)};
  db::Commit commit;
  const auto put = [&](std::string key, std::optional<std::string> value) {
    commit.rows.push_back({Family::kRun, std::move(key), std::move(value), std::nullopt});
  };
  for (uint32_t i = machine.next_step; i < last.next_step; ++i) put(StepKey(id, i), std::nullopt);
  head.phase = RunPhase::kRunning;
  head.ended_ms = 0;
  head.status = 0;
  head.message.clear();
  head.steps = 0;
  ++head.retries;
  if (head.app != app->version) head.app = app->version;
  put(HeadKey(id), EncodeHead(head));
  put(MachineKey(id), EncodeMachine(machine));
  put(LiveKey(id), "");
  RETURN_IF_ERROR(database_.Apply(std::move(commit)).status);
  return engine_.Resume(std::move(app), {head, machine, std::move(input)});
}

}  // namespace sluice::flow_engine
