// Commands of operators. They run on the trigger's thread, because it alone moves the cursors.
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/bytes.h"
#include "base/log.h"
#include "db/conflict_retry.h"
#include "procedure/trigger/dead_letter.h"
#include "procedure/trigger/runner.h"

namespace sluice::procedure {
namespace {

constexpr std::chrono::seconds kPatience(30);

Status Stopping() { return Error(Code::kCancelled, "trigger.stopping", "the trigger stops"); }

// A null head: no event waits in the shard.
Status NotHead(const std::string& trigger, const std::string& asked, const TriggerEvent* head) {
  if (head == nullptr) {
    return Error(Code::kConflict, "trigger.not_head", "event {} does not wait for '{}'",
                 ToHex(asked), trigger);
  }
  return Error(Code::kConflict, "trigger.not_head",
               "the event at the head of '{}' is {}, and not {}", trigger, ToHex(head->id()),
               ToHex(asked));
}

Status NoSuchLetter(const failure::FailureId& id) {
  return Error(Code::kNotFound, "failure.not_found", "there is no failure {}", failure::ToText(id));
}

}  // namespace

Status TriggerRunner::Skip(const std::string& event_id) {
  return Do(event_id, [this, event_id] { return PassHead(event_id, Pass::kForget); });
}

Status TriggerRunner::MoveToDeadLetters(const std::string& event_id) {
  return Do(event_id, [this, event_id] { return PassHead(event_id, Pass::kKeep); });
}

Status TriggerRunner::RetryDeadLetter(const failure::FailureId& id) {
  return Do("", [this, id] { return Retry(id); });
}

Status TriggerRunner::Do(std::string event_id, std::function<Status()> run) {
  const auto command = std::make_shared<Command>();
  command->event_id = std::move(event_id);
  command->run = std::move(run);
  std::future<Status> done = command->done.get_future();
  {
    const auto commands = commands_.Lock();
    if (commands->refused) return Stopping();
    commands->waiting.push_back(command);
  }
  // The event may have run already, in a batch that is not committed yet. Then the run of the event
  // that follows it in the batch is ended.
  if (!command->event_id.empty()) code_.Interrupt(command->event_id);
  queue_->signal().Wake();
  if (done.wait_for(kPatience) == std::future_status::ready) return done.get();
  if (std::erase(commands_.Lock()->waiting, command) > 0) {
    return Error(Code::kUnavailable, "trigger.busy",
                 "'{}' has been running for {} s; ask again, or hold it first", name_,
                 kPatience.count());
  }
  code_.Interrupt("");  // the command is running: a retry that takes long
  return done.get();
}

bool TriggerRunner::HasCommands() const { return !commands_.Lock()->waiting.empty(); }

void TriggerRunner::RunCommands() {
  while (!ending()) {
    std::shared_ptr<Command> command;
    {
      const auto commands = commands_.Lock();
      if (commands->waiting.empty()) return;
      command = std::move(commands->waiting.front());
      commands->waiting.pop_front();
    }
    command->done.set_value(command->run());
  }
}

void TriggerRunner::RefuseCommands() {
  const Commands last = commands_.Exchange({.waiting = {}, .refused = true});
  for (const auto& command : last.waiting) command->done.set_value(Stopping());
}

Status TriggerRunner::PassHead(const std::string& event_id, Pass pass) {
  const auto place = PlaceOfId(event_id);
  if (!place || !std::ranges::binary_search(shards_, place->shard)) {
    return NotHead(name_, event_id, nullptr);
  }
  const auto entered = queue_->gate().Enter(place->shard);
  if (!entered) return TriggerShardLost(place->shard);
  ShardRunner& runner = RunnerIn(*entered);
  ASSIGN_OR_RETURN(follow::LaneQueue* const events, runner.Queue());
  ASSIGN_OR_RETURN(const TriggerEvent* const event, NextEvent(*events));
  if (event == nullptr || event->id() != event_id) return NotHead(name_, event_id, event);
  failure::WriteSet letters(engine_.database(), place->shard, FollowerOf(name_));
  if (pass == Pass::kKeep) RETURN_IF_ERROR(AddDeadLetter(*event, letters));
  events->Take();
  db::Commit commit;
  commit.shard = place->shard;
  commit.origin = FollowerOf(name_);
  commit.cursor_moves.push_back(events->Move());
  letters.MoveTo(&commit);
  const Status status = engine_.database().Apply(std::move(commit)).status;
  if (!status.ok()) {
    events->Rewind();
    return status;
  }
  events->Committed();
  runner.HeadPassed();
  return CountDeadLetters(letters.change());
}

Status TriggerRunner::AddDeadLetter(const TriggerEvent& event, failure::WriteSet& letters) {
  ASSIGN_OR_RETURN(DeadLetter letter, DeadLetterOf(engine_.database(), event));
  const uint64_t now_ms = engine_.database().clock().WallMs();
  letter.failure.problem.kind = "moved";
  letter.failure.attempts = 0;
  letter.failure.first_ms = now_ms;
  letter.failure.last_ms = now_ms;
  const TriggerProgress last = progress();
  const auto failing = last.failing.find(event.shard);
  if (failing != last.failing.end() && failing->second.event_id == event.id()) {
    const FailingHead& head = failing->second;
    letter.failure.problem.kind = "failed";
    letter.failure.problem.message = head.error;
    letter.failure.attempts = head.attempts;
    letter.failure.first_ms = head.first_ms;
    letter.failure.last_ms = head.error_ms;
  }
  letter.failure.problem = failure::Shortened(std::move(letter.failure.problem));
  return letters.Add(std::move(letter.failure), letter.payload, std::nullopt);
}

Status TriggerRunner::CountDeadLetters(const failure::SizeChange& change) {
  ASSIGN_OR_RETURN(const uint64_t dropped, dead_letters_->Committed(change));
  if (dropped > 0) {
    log::Warn("the oldest dead letters of a trigger were dropped for room",
              {{"trigger", name_}, {"dropped", std::to_string(dropped)}});
  }
  return OkStatus();
}

// Runs it again when another commit changed data that the run had read.
Status TriggerRunner::Retry(const failure::FailureId& id) {
  if (id.shard >= engine_.database().shard_count()) return NoSuchLetter(id);
  const auto entered = queue_->gate().Enter(id.shard);
  if (!entered) return TriggerShardLost(id.shard);
  const follow::Tenure& tenure = *entered->tenure();
  Status status;
  for (db::ConflictRetry retry;;) {
    status = RetryOnce(id, tenure);
    if (tenure.over() || !retry.Again(status)) break;
  }
  if (status.ok() || status.code() == Code::kNotFound || ending() || tenure.over()) return status;
  RETURN_IF_ERROR(NoteRetryFailed(id, status));
  return status;
}

Status TriggerRunner::RetryOnce(const failure::FailureId& id, const follow::Tenure& tenure) {
  failure::WriteSet letters(engine_.database(), id.shard, FollowerOf(name_));
  ASSIGN_OR_RETURN(const auto failure, letters.Find(id));
  if (!failure) return NoSuchLetter(id);
  ASSIGN_OR_RETURN(const std::string payload, letters.Payload(id));
  ASSIGN_OR_RETURN(EventMaker maker, EventMaker::Make(engine_, definition_));
  ASSIGN_OR_RETURN(const TriggerEvent event,
                   EventAgain(engine_.database(), maker, *failure, payload));
  db::Transaction transaction(engine_.database());
  code_.LookForNewProgram();
  RETURN_IF_ERROR(code_.Run(event, transaction, tenure));
  RETURN_IF_ERROR(letters.Remove(*failure));
  db::Commit commit = transaction.TakeCommit();
  commit.shard = id.shard;
  commit.origin = FollowerOf(name_);
  letters.MoveTo(&commit);
  RETURN_IF_ERROR(engine_.database().Apply(std::move(commit)).status);
  return CountDeadLetters(letters.change());
}

Status TriggerRunner::NoteRetryFailed(const failure::FailureId& id, const Status& status) {
  failure::WriteSet letters(engine_.database(), id.shard, FollowerOf(name_));
  ASSIGN_OR_RETURN(auto failure, letters.Find(id));
  if (!failure) return OkStatus();
  ++failure->attempts;
  failure->last_ms = engine_.database().clock().WallMs();
  failure->problem.kind = "failed";
  failure->problem.message = status.ToString();
  failure->problem = failure::Shortened(std::move(failure->problem));
  RETURN_IF_ERROR(letters.Update(*failure, std::nullopt));
  db::Commit commit;
  commit.shard = id.shard;
  letters.MoveTo(&commit);
  return engine_.database().Apply(std::move(commit)).status;
}

}  // namespace sluice::procedure
