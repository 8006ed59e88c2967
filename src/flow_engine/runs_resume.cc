// Runs that go on: when their shard is gained, as after a restart, when their time has come, when
// somebody sets them back; and runs that are cancelled.
#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/log.h"
#include "flow/run_codec.h"
#include "flow_engine/runs.h"
#include "json/parse.h"

namespace sluice::flow_engine {
namespace {

using json::Value;
using Family = db::RowFamily;

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

Status Runs::Start() {
  if (const function::UnderWay* const under_way = engine_.options().under_way) {
    ASSIGN_OR_RETURN(given_up_, CountCrashes(database_, *under_way, StoreCounts::kNo));
  }
  sweeper_ = Thread({"flow sweeper"}, [this] { SweepLoop(); });
  parked_.Start();
  database_.ownership().Add(this);
  return OkStatus();
}

void Runs::Gained(db::ShardId shard) {
  engine_.OpenShard(shard);
  if (const Status status = GoOn(shard); !status.ok()) {
    log::Error("runs of a shard can't go on", {{"shard", shard}, {"error", status.ToString()}});
  }
}

// A retry or a sweep that has read rows of the shard has written by then what follows from them.
void Runs::Lost(db::ShardId shard) {
  const MutexLock lock(retry_mutex_);
  engine_.CloseShard(shard);
  parked_.Drop([&](const std::string& id) { return database_.ShardOfKey(id) == shard; });
}

Status Runs::GoOn(db::ShardId shard) {
  const function::UnderWay* const under_way = engine_.options().under_way;
  if (shard == db::kDefinitionsShard && under_way != nullptr && !counts_stored_) {
    const auto stored = CountCrashes(database_, *under_way, StoreCounts::kYes);
    if (!stored) return stored.error();
    counts_stored_ = true;
  }
  std::vector<std::string> live;
  const auto rows = database_.rows().NewIterator(
      Family::kRun, shard, {.from = std::string(kLivePrefix), .to = PrefixEnd(kLivePrefix)});
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    live.emplace_back(rows->key().substr(kLivePrefix.size()));
  }
  RETURN_IF_ERROR(rows->status());
  RETURN_IF_ERROR(WriteFilesAgain(shard));
  for (const std::string& id : live) {
    const auto given_up = given_up_.find(id);
    const Status status = ResumeOrPark(
        id, given_up == given_up_.end() ? std::vector<GivenUpCall>() : given_up->second);
    if (!status.ok()) RETURN_IF_ERROR(GiveUp(id, status));
  }
  if (!live.empty()) {
    log::Info("runs of flows go on", {{"shard", shard}, {"runs", live.size()}});
  }
  return OkStatus();
}

// Before any run goes on, so that nothing else appends to them. Steps that had begun to append come
// first: their place is at the end of a file still.
Status Runs::WriteFilesAgain(db::ShardId shard) {
  std::vector<std::pair<std::string, std::vector<StepFile>>> steps;  // by run
  const auto rows = database_.rows().NewIterator(
      Family::kRun, shard, {.from = std::string(kFilesPrefix), .to = PrefixEnd(kFilesPrefix)});
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    ASSIGN_OR_RETURN(std::vector<StepFile> files, DecodeFiles(rows->value()));
    steps.emplace_back(rows->key().substr(kFilesPrefix.size()), std::move(files));
  }
  RETURN_IF_ERROR(rows->status());
  const auto has_begun = [](const auto& step) {
    return std::ranges::any_of(step.second, [](const StepFile& file) { return !!file.at; });
  };
  std::ranges::stable_partition(steps, has_begun);
  for (auto& [id, files] : steps) {
    const auto head = ReadHead(id);
    const auto app = head ? AppOf(head->app) : Unexpected(head.error());
    if (app) {
      engine_.WriteFilesAgain(**app, id, std::move(files));
    } else {
      log::Error("files of a run can't be written",
                 {{"run", id}, {"error", app.error().ToString()}});
    }
    db::Commit commit = CommitOf(id);
    commit.rows.push_back(RunRow(FilesKey(id), std::nullopt));
    RETURN_IF_ERROR(database_.Apply(std::move(commit)).status);
  }
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

Status Runs::ResumeOne(const std::string& id, std::vector<GivenUpCall> given_up,
                       Engine::Memory memory) {
  // The version comes first: if another owner stores a step meanwhile, the version is the older
  // one, and the first commit is refused.
  ASSIGN_OR_RETURN(std::optional<std::string> version, ReadVersion(id));
  if (!version) return OkStatus();  // another owner has ended it
  StoredRun run;
  run.version = *std::move(version);
  ASSIGN_OR_RETURN(run.head, ReadHead(id));
  ASSIGN_OR_RETURN(run.machine, ReadMachine(id));
  ASSIGN_OR_RETURN(run.input, ReadInput(id));
  ASSIGN_OR_RETURN(auto app, AppOf(run.head.app));
  return engine_.Resume(std::move(app), std::move(run), std::move(given_up), memory);
}

// A run that can't go on is not lost: its head says why, and it may be retried.
Status Runs::GiveUp(const std::string& id, const Status& why) {
  log::Error("a run can't go on", {{"run", id}, {"error", why.ToString()}});
  ASSIGN_OR_RETURN(const std::optional<std::string> version, ReadVersion(id));
  if (!version) return OkStatus();
  db::Commit commit = CommitOf(id);
  commit.rows.push_back(RunRow(LiveKey(id), std::nullopt, version));
  if (auto head = ReadHead(id)) {
    head->phase = RunPhase::kFailed;
    head->ended_ms = services_.function.clock.WallMs();
    head->status = 500;
    head->message = why.ToString();
    if (const auto machine = ReadMachine(id)) head->steps = machine->next_step - 1;
    commit.rows.push_back(RunRow(HeadKey(id), EncodeHead(*head)));
  }
  return database_.Apply(std::move(commit)).status;
}

Status Runs::Cancel(const std::string& id) {
  ASSIGN_OR_RETURN(RunHead head, ReadHead(id));
  // Meanwhile it may leave the memory, and come back.
  constexpr int kMostTries = 100;
  for (int i = 0; i < kMostTries && head.phase == RunPhase::kRunning; ++i) {
    if (engine_.Cancel(id)) return OkStatus();
    if (parked_.Take(id)) {
      RETURN_IF_ERROR(ResumeOne(id, {}, Engine::Memory::kStays));
      continue;
    }
    { const MutexLock retry(retry_mutex_); }  // a retry brings it back
    ASSIGN_OR_RETURN(head, ReadHead(id));
  }
  if (head.phase == RunPhase::kRunning) {
    return Error(Code::kConflict, "flow.run_elsewhere",
                 "the run '{}' goes on in another server: cancel it there", id);
  }
  return Error(Code::kConflict, "flow.run_finished", "the run '{}' is {}", id,
               PhaseName(head.phase));
}

Result<RunMachine> Runs::ReadBefore(const std::string& id, uint32_t step,
                                    const RunMachine& last) const {
  ASSIGN_OR_RETURN(const auto row, ReadRow(id, StepKey(id, step)));
  if (!row) {
    return Fail(Code::kNotFound, "flow.step_not_found",
                "the run '{}' has no step {}: expected 1 to {}, of which the last {} are kept", id,
                step, last.next_step - 1, kMaxKeptSteps);
  }
  ASSIGN_OR_RETURN(StoredStep stored, DecodeStep(*row));
  if (stored.before) return *std::move(stored.before);
  return Fail(Code::kInvalidArgument, "flow.step_not_kept",
              "the state of the run before step {} was too large to be kept", step);
}

Status Runs::Retry(const std::string& id, std::optional<uint32_t> number) {
  const MutexLock lock(retry_mutex_);
  ASSIGN_OR_RETURN(RunHead head, ReadHead(id));
  if (!engine_.shards().contains(database_.ShardOfKey(id))) {
    return Error(Code::kUnavailable, std::string(db::kNotOwner),
                 "the run '{}' belongs to another server: retry it there", id);
  }
  if (head.phase == RunPhase::kRunning) {
    return Error(Code::kConflict, "flow.run_running", "the run '{}' is running: cancel it first",
                 id);
  }
  // Its end is stored a moment before the engine has done with it.
  engine_.WaitUntilGone(id);
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
  // The present app comes first: its code may have been corrected since. The app that the run began
  // with is for a run whose flows and tasks the present one does not have.
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
  db::Commit commit = CommitOf(id);
  for (uint32_t i = machine.next_step; i < last.next_step; ++i) {
    commit.rows.push_back(RunRow(StepKey(id, i), std::nullopt));
  }
  head.phase = RunPhase::kRunning;
  head.ended_ms = 0;
  head.status = 0;
  head.message.clear();
  head.steps = 0;
  ++head.retries;
  if (head.app != app->version) head.app = app->version;
  const std::string version = engine_.NewVersion();
  commit.rows.push_back(RunRow(HeadKey(id), EncodeHead(head)));
  commit.rows.push_back(RunRow(MachineKey(id), EncodeMachine(machine)));
  commit.rows.push_back(RunRow(LiveKey(id), version, std::optional<std::string>()));
  RETURN_IF_ERROR(database_.Apply(std::move(commit)).status);
  return engine_.Resume(std::move(app), {head, machine, std::move(input), version});
}

}  // namespace sluice::flow_engine
