#include "procedure/trigger/shard_runner.h"

#include <utility>

#include "base/log.h"

namespace sluice::procedure {
namespace {

// Far below the limits of a commit.
constexpr size_t kMostWrites = db::kMaxCommitWrites / 4;
constexpr size_t kMostBytes = db::kMaxCommitBytes / 8;

}  // namespace

ShardRunner::ShardRunner(const Shared& shared, const follow::ShardGate::Pass& pass)
    : shared_(shared),
      shard_(pass.shard()),
      tenure_(pass.tenure()),
      sink_(shared_.engine.database()),
      pauses_(shared_.engine.database().NewCas()),
      follower_({.processor = *this,
                 .failures = *this,
                 .sink = sink_,
                 .clock = MachineClock(),
                 .stopping = [this] { return tenure_->over() || shared_.ending(); }},
                [this] { return OpenShardQueue(shared_.engine, shared_.definition, shard_); }) {}

ShardRunner::~ShardRunner() { shared_.progress.Lock()->failing.erase(shard_); }

ShardRunner::Stepped ShardRunner::Step() {
  using State = Stepped::State;
  if (paused_until_) {
    const bool wait =
        MachineClock().Now() < *paused_until_ && !shared_.code.HasOtherThan(failed_program_);
    if (wait) return {.state = State::kPaused, .until = paused_until_};
    paused_until_.reset();
  }
  const Stepped stepped = follower_.Step();
  if (stepped.state == State::kPaused) {
    paused_until_ = stepped.until;
    failed_program_ = shared_.code.program();
  }
  return stepped;
}

void ShardRunner::Forget() {
  follower_.Forget();
  paused_until_.reset();
}

void ShardRunner::Begin() {
  transaction_.emplace(shared_.engine.database());
  shared_.code.LookForNewProgram();
  shared_.progress.Lock()->state = TriggerProgress::State::kRunning;
}

Result<follow::Processor::Ran> ShardRunner::Run(const follow::Event& event, Place) {
  const size_t savepoint = transaction_->Savepoint();
  const Status status =
      shared_.code.Run(static_cast<const TriggerEvent&>(event), *transaction_, *tenure_);
  if (status.ok()) return Ran::kDone;
  transaction_->RollbackTo(savepoint);
  return Unexpected(status);
}

bool ShardRunner::full() const {
  return transaction_->writes() >= kMostWrites || transaction_->bytes() >= kMostBytes;
}

db::Commit ShardRunner::TakeCommit() {
  db::Commit commit = transaction_->TakeCommit();
  commit.origin = FollowerOf(shared_.name);
  return commit;
}

void ShardRunner::Committed(std::span<const follow::EventPtr> events) {
  transaction_.reset();
  HeadPassed();
  shared_.progress.Lock()->handled += events.size();
}

void ShardRunner::Refused(const Status&) {
  transaction_.reset();
  ++shared_.progress.Lock()->conflicts;
}

void ShardRunner::HeadPassed() {
  pauses_.Reset();
  paused_until_.reset();
  shared_.progress.Lock()->failing.erase(shard_);
}

// Empty when it can't be read.
std::string ShardRunner::HeadId() {
  const auto queue = follower_.Queue();
  if (!queue) return {};
  const auto event = NextEvent(**queue);
  return event && *event != nullptr ? (*event)->id() : std::string();
}

follow::Verdict ShardRunner::OnTrouble(follow::Trouble, const Status& status) {
  transaction_.reset();
  if (status.id() == "trigger.interrupted") return follow::Verdict::Again({});
  const std::chrono::milliseconds pause = pauses_.Next();
  NoteFailure(status, pause);
  log::Warn("a trigger failed", {{"trigger", shared_.name},
                                 {"shard", std::to_string(shard_)},
                                 {"attempts", std::to_string(pauses_.attempts())},
                                 {"pause_ms", std::to_string(pause.count())},
                                 {"error", status.ToString()}});
  return follow::Verdict::Again(pause);
}

void ShardRunner::NoteFailure(const Status& status, std::chrono::milliseconds pause) {
  const uint64_t now_ms = shared_.engine.database().clock().WallMs();
  std::string id = HeadId();
  const auto progress = shared_.progress.Lock();
  ++progress->failures;
  progress->state = TriggerProgress::State::kFailing;
  progress->error = status.ToString();
  progress->error_ms = now_ms;
  FailingHead& head = progress->failing[shard_];
  if (head.attempts == 0 || head.event_id != id) head.first_ms = now_ms;
  head.event_id = std::move(id);
  head.attempts = pauses_.attempts();
  head.next_try_ms = now_ms + static_cast<uint64_t>(pause.count());
  head.error = progress->error;
  head.error_ms = now_ms;
}

}  // namespace sluice::procedure
