// The commits of a durable run: how they are made, and how the driver handles their results. The
// table of states is in the header. Invariants:
//
// 1. Commits are numbered and settled in the order in which they were made, in whatever order the
//    database's answers reach the driver.
// 2. At most one awaited step is on its way, and it is the last commit on its way.
// 3. `at_` is the run after all steps that are taken. The rows of these steps that are not stored
//    yet are in `held_rows_`, `in_flight_` or `unstored_rows_`.
// 4. A commit expects the version that the commit before it leaves. When one fails, those behind it
//    are refused, too; so a repair stores everything from the last stored version on.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "db/conflict_retry.h"
#include "flow_engine/durable_driver.h"
#include "flow_engine/task.h"

namespace sluice::flow_engine {
namespace {

template <typename T>
void MoveAll(std::vector<T> from, std::vector<T>* to) {
  if (to->empty()) {
    *to = std::move(from);
    return;
  }
  to->insert(to->end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// The database's thread may carry these out itself: nothing in them takes long.
bool AreOnlyAnswers(const flow::Actions& actions) {
  const auto answers = [](const flow::Action& action) {
    return std::holds_alternative<flow::Respond>(action) ||
           std::holds_alternative<flow::Ended>(action);
  };
  const auto* const ended = actions.empty() ? nullptr : std::get_if<flow::Ended>(&actions.back());
  return ended != nullptr && ended->status < 400 && std::ranges::all_of(actions, answers);
}

bool EndsRun(const flow::Actions& actions) {
  return !actions.empty() && std::holds_alternative<flow::Ended>(actions.back());
}

}  // namespace

void DurableDriver::StoreTaken(flow::Actions then, Outcome* outcome) {
  StoreRequest request{.number = ++last_number_, .only_answers = AreOnlyAnswers(then)};
  request.commit.rows = held_rows_;
  AddRunRows(at_.head, at_.machine, at_.input, &request);
  in_flight_.push_back({.number = request.number,
                        .version_after = request.version_after,
                        .task_rows = std::exchange(held_rows_, {}),
                        .then = std::move(then),
                        .awaited = nullptr,
                        .result = std::nullopt});
  outcome->commits.push_back(std::move(request));
  hold_until_ms_ = 0;
  if (state_ == State::kHolding) state_ = State::kTaking;
}

void DurableDriver::StoreFirst(RunEvent event, PlannedStep step, Outcome* outcome) {
  StoreRequest request{.number = ++last_number_};
  const bool has_writes = step.awaited && event.answered != nullptr && event.answered->has_writes();
  if (has_writes) request.commit = std::move(event.answered->writes);
  AddTaskRows(step, at_.machine, &request.commit.rows);
  AddRunRows(step.head, step.machine, step.input, &request);
  if (!step.files.empty()) {
    request.commit.rows.push_back(RunRow(FilesKey(step.head.id), EncodeFiles(step.files)));
  }
  in_flight_.push_back({.number = request.number,
                        .version_after = request.version_after,
                        .task_rows = {},
                        .then = {},
                        .awaited = std::make_unique<AwaitedStep>(
                            AwaitedStep{std::move(event), std::move(step), has_writes}),
                        .result = std::nullopt});
  outcome->commits.push_back(std::move(request));
  state_ = State::kStoring;
}

void DurableDriver::AddRunRows(const RunHead& head, const RunMachine& machine,
                               const json::Value& input, StoreRequest* request) {
  std::vector<db::RowWrite>& rows = request->commit.rows;
  const bool first = !version_;
  const bool ended = head.phase != RunPhase::kRunning;
  request->version_before = version_;
  if (!ended) request->version_after = EncodeVersion(options_.writer, request->number);
  if (first && !input.is_missing()) rows.push_back(RunRow(InputKey(head.id), EncodeInput(input)));
  rows.push_back(RunRow(MachineKey(head.id), EncodeMachine(machine)));
  if (first) {
    db::RowWrite row = RunRow(HeadKey(head.id), EncodeHead(head));
    if (may_be_begun_) row.expected.emplace();  // absent
    rows.push_back(std::move(row));
    if (!ended) rows.push_back(RunRow(LiveKey(head.id), request->version_after));
  } else {
    if (ended) rows.push_back(RunRow(HeadKey(head.id), EncodeHead(head)));
    rows.push_back(RunRow(LiveKey(head.id), request->version_after, version_));
  }
  version_ = request->version_after;
}

// --- results of commits -------------------------------------------------------------------------

Outcome DurableDriver::OnStored(uint64_t number, StoreResult result, RunTime now) {
  Outcome outcome;
  const auto found = std::ranges::find(in_flight_, number, &InFlight::number);
  if (found == in_flight_.end()) return outcome;  // the run is gone
  found->result = std::move(result);
  while (!in_flight_.empty() && in_flight_.front().result) {
    InFlight commit = std::move(in_flight_.front());
    in_flight_.erase(in_flight_.begin());
    Settle(std::move(commit), now, &outcome);
  }
  if (state_ == State::kTaking && !waiting_.empty()) TakeEvents(now, &outcome);
  return outcome;
}

void DurableDriver::Settle(InFlight commit, RunTime now, Outcome* outcome) {
  if (commit.result->kind == StoreResult::Kind::kStored) {
    return OnCommitStored(std::move(commit), now, outcome);
  }
  // One before it has failed, so this one had to, too.
  if (state_ == State::kRepairing) return OnCommitFailed(std::move(commit), now, outcome);
  if (commit.result->kind == StoreResult::Kind::kLost) return Lose(outcome);
  if (commit.awaited != nullptr && commit.awaited->has_writes) {
    return OnWritesRefused(std::move(*commit.awaited), commit.result->status, outcome);
  }
  OnCommitFailed(std::move(commit), now, outcome);
}

void DurableDriver::OnCommitStored(InFlight commit, RunTime now, Outcome* outcome) {
  stored_version_ = std::move(commit.version_after);
  if (state_ == State::kStoring && in_flight_.empty()) state_ = State::kTaking;
  flow::Actions actions = std::move(commit.then);
  if (commit.awaited != nullptr) {
    PlannedStep& step = commit.awaited->step;
    if (!step.files.empty()) WriteFiles(step.files, outcome);
    TakeStep(std::move(step), now, &actions);
  }
  if (EndsRun(actions)) state_ = State::kGone;
  MoveAll(std::move(actions), &outcome->actions);
}

void DurableDriver::WriteFiles(const std::vector<StepFile>& files, Outcome* outcome) {
  files_.Write(files);
  // Nothing depends on this commit: after a crash the same files are written once more.
  StoreRequest request{.number = ++last_number_};
  request.commit.rows.push_back(RunRow(FilesKey(at_.head.id), std::nullopt));
  outcome->commits.push_back(std::move(request));
}

void DurableDriver::OnWritesRefused(AwaitedStep awaited, const Status& status, Outcome* outcome) {
  CHECK(in_flight_.empty());
  state_ = State::kTaking;
  version_ = stored_version_;
  const flow::Call& call = awaited.event.answered->call;
  const int attempt = ++attempts_[call.call];
  if (status.code() == Code::kConflict && attempt < db::ConflictRetry::kMostAttempts) {
    // Another commit changed what the function had read.
    outcome->call_again.push_back({call, db::ConflictRetry::PauseAfter(attempt)});
    return;
  }
  const TaskOutput failure = TaskOutput::Failure(status);
  waiting_.push_front({.event = flow::TaskResult{.call = call.call,
                                                 .status = failure.status,
                                                 .headers = failure.headers,
                                                 .body = failure.body,
                                                 .stack = {}}});
}

void DurableDriver::OnCommitFailed(InFlight commit, RunTime now, Outcome* outcome) {
  if (state_ != State::kRepairing) {
    log::Error("a step of a run can't be stored",
               {{"run", at_.head.id}, {"error", commit.result->status.ToString()}});
    state_ = State::kRepairing;
    may_be_begun_ = true;
    repair_at_ms_ = now.wall_ms + kRepairPauseMs;
  }
  if (commit.awaited == nullptr) {
    unstored_steps_ = true;
    MoveAll(std::move(commit.task_rows), &unstored_rows_);
    MoveAll(std::move(commit.then), &after_repair_);
  } else if (commit.awaited->has_writes) {
    // They went with the commit.
    outcome->call_again.push_back({commit.awaited->event.answered->call, {}});
  } else {
    waiting_.push_front(std::move(commit.awaited->event));
  }
}

void DurableDriver::Repair(RunTime now, Outcome* outcome) {
  version_ = stored_version_;
  state_ = State::kTaking;
  if (unstored_steps_) {
    unstored_steps_ = false;
    MoveAll(std::move(held_rows_), &unstored_rows_);
    held_rows_ = std::exchange(unstored_rows_, {});
    StoreTaken(std::exchange(after_repair_, {}), outcome);
    state_ = State::kStoring;
    return;
  }
  if (hold_until_ms_ != 0) state_ = State::kHolding;
  TakeEvents(now, outcome);
}

void DurableDriver::Lose(Outcome* outcome) {
  Leave();
  outcome->lost = true;
}

void DurableDriver::Leave() {
  state_ = State::kGone;
  waiting_.clear();
  in_flight_.clear();
  held_rows_.clear();
}

}  // namespace sluice::flow_engine
