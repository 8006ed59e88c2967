#include "follow/batch_runner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"

namespace sluice::follow {
namespace {

// The refusal has nothing to do with the events.
bool IsOfDatabase(const Status& status) {
  switch (status.code()) {
    case Code::kOverloaded:
    case Code::kNoSpace:
    case Code::kIo:
    case Code::kUnavailable:
    case Code::kCancelled:
    case Code::kInternal:
      return true;
    default:
      return false;
  }
}

bool HasOtherOwner(const Status& status) { return status.id().starts_with("cursor."); }

}  // namespace

BatchRunner::Stepped BatchRunner::Step(std::span<const EventPtr> events, Cursors& cursors) {
  CHECK(!events.empty());
  std::optional<Turns::Turn> turn;
  if (parts_.turns != nullptr) turn.emplace(*parts_.turns, parts_.stopping);
  const Batch batch = Run(events.first(std::min(events.size(), most_at_once_)));
  if (parts_.stopping() && (batch.done == 0 || !batch.failed.ok())) return {.ended = true};
  if (batch.done > 0) {
    const Status status = Commit(events.first(batch.done), cursors);
    if (!status.ok()) return Refused(status, batch.done, !turn || turn->alone());
    conflicts_ = 0;
    parts_.failures.OnPassed();
    most_at_once_ = batch.slow ? 1 : std::min(most_at_once_ * 2, kMostAtOnce);
  }
  if (batch.failed.ok()) return {.done = batch.done};
  Stepped stepped = Troubled(Trouble::kFailed, batch.failed);
  stepped.done = batch.done;
  return stepped;
}

BatchRunner::Batch BatchRunner::Run(std::span<const EventPtr> events) {
  Batch batch;
  const Clock::Time started = parts_.clock.Now();
  parts_.processor.Begin();
  auto ran = Processor::Ran::kDone;
  const auto more = [&] {
    if (batch.done == events.size() || ran != Processor::Ran::kDone || parts_.stopping()) {
      return false;
    }
    return batch.done == 0 ||
           (!parts_.processor.full() && parts_.clock.Now() < started + kLongestBatch);
  };
  while (more()) {
    const auto place = batch.done == 0 ? Processor::Place::kFirst : Processor::Place::kLater;
    const Result<Processor::Ran> result = parts_.processor.Run(*events[batch.done], place);
    if (!result) {
      batch.failed = result.error();
      break;
    }
    ran = *result;
    if (ran != Processor::Ran::kAlone) ++batch.done;
    CHECK(batch.done > 0);
  }
  parts_.processor.End();
  if (!batch.failed.ok() && parts_.processor.spoiled()) batch.done = 0;
  batch.slow = parts_.clock.Now() - started > kSlowRun * (batch.done + 1);
  return batch;
}

// Waits until it is durable.
Status BatchRunner::Commit(std::span<const EventPtr> events, Cursors& cursors) {
  db::Commit commit = parts_.processor.TakeCommit();
  commit.shard = cursors.shard();
  std::vector<db::CursorMove> moves = cursors.MovesPast(events);
  commit.cursor_moves.insert(commit.cursor_moves.end(), moves.begin(), moves.end());
  RETURN_IF_ERROR(parts_.sink.Apply(std::move(commit)));
  parts_.processor.Committed(events);
  cursors.Moved(events, std::move(moves));
  return OkStatus();
}

BatchRunner::Stepped BatchRunner::Refused(const Status& status, size_t events, bool alone) {
  parts_.processor.Refused(status);
  if (HasOtherOwner(status)) return {.ended = true, .why = status};
  if (IsOfDatabase(status)) return Troubled(Trouble::kDatabase, status);
  const bool conflict = status.code() == Code::kConflict;
  if (conflict) {
    ++conflicts_;
    if (parts_.turns != nullptr) parts_.turns->Conflicted();
  }
  const Stepped again{.pause = conflict ? db::ConflictRetry::PauseAfter(conflicts_)
                                        : std::chrono::microseconds(0)};
  if (events > 1) {
    if (alone || !conflict) most_at_once_ = events / 2;
    return again;
  }
  if (conflict && conflicts_ < kMostConflicts) return again;
  return Troubled(Trouble::kRefused, status);
}

// Only the event in question runs next.
BatchRunner::Stepped BatchRunner::Troubled(Trouble trouble, const Status& status) {
  if (HasOtherOwner(status)) return {.ended = true, .why = status};
  if (trouble != Trouble::kDatabase) most_at_once_ = 1;
  const Verdict verdict = parts_.failures.OnTrouble(trouble, status);
  if (verdict.next == Verdict::Next::kEnd) return {.ended = true, .why = status};
  return {.pause = verdict.pause};
}

}  // namespace sluice::follow
