#include "procedure/trigger/runner.h"

#include <utility>

#include "base/log.h"

namespace sluice::procedure {
namespace {

// Far below the limits of a commit.
constexpr size_t kMostWrites = db::kMaxCommitWrites / 4;
constexpr size_t kMostBytes = db::kMaxCommitBytes / 8;

}  // namespace

std::string_view StateName(TriggerProgress::State state) {
  static constexpr std::string_view kNames[] = {"waiting", "running", "failing", "held", "stopped"};
  return kNames[static_cast<size_t>(state)];
}

TriggerRunner::TriggerRunner(query::QueryEngine& engine, const Store& store,
                             std::shared_ptr<LiveQueue> queue,
                             std::shared_ptr<failure::FailureList> dead_letters, lua::Limits limits)
    : engine_(engine),
      queue_(std::move(queue)),
      dead_letters_(std::move(dead_letters)),
      name_(queue_->definition()->name),
      code_(engine, store, name_, limits),
      sink_(engine.database()),
      pauses_(engine.database().NewCas()),
      follower_({.processor = *this,
                 .failures = *this,
                 .sink = sink_,
                 .clock = MachineClock(),
                 .stopping = [this] { return ending(); }},
                [this] { return OpenEventQueue(engine_, definition_); }) {
  thread_ = Thread({"trigger", name_}, [this] { Loop(); });
}

TriggerRunner::~TriggerRunner() {
  Stop();
  thread_.join();
}

void TriggerRunner::Stop() {
  code_.Stop();
  queue_->signal().Wake();
}

void TriggerRunner::SetState(TriggerProgress::State state) { progress_.Lock()->state = state; }

void TriggerRunner::Loop() {
  while (!ending() && Step()) {
  }
  RefuseCommands();
  SetState(TriggerProgress::State::kStopped);
}

bool TriggerRunner::Step() {
  using State = follow::SerialFollower::Stepped::State;
  Signal& signal = queue_->signal();
  const uint64_t seen = signal.news();
  const auto definition = queue_->definition();
  if (definition != definition_) follower_.Forget();
  definition_ = definition;
  RunCommands();
  if (definition->held) {
    SetState(TriggerProgress::State::kHeld);
    signal.Wait(seen);
    return true;
  }
  const auto stepped = follower_.Step();
  if (stepped.state == State::kIdle) {
    SetState(TriggerProgress::State::kWaiting);
    signal.Wait(seen, stepped.until);
  } else if (stepped.state == State::kPaused) {
    Pause(*stepped.until);
  }
  // The follower ends when the trigger was dropped, or created again with the same name.
  return stepped.state != State::kEnded;
}

// New events do not end the pause; a change of the trigger or of its procedure does.
void TriggerRunner::Pause(Clock::Time until) {
  Signal& signal = queue_->signal();
  while (!ending()) {
    const uint64_t seen = signal.news();
    if (queue_->definition() != definition_ || HasCommands() || code_.has_new_program()) return;
    if (signal.Wait(seen, until) == Signal::Waited::kTimeout) return;
  }
}

void TriggerRunner::Begin() {
  transaction_.emplace(engine_.database());
  code_.LookForNewProgram();
  SetState(TriggerProgress::State::kRunning);
}

Result<follow::Processor::Ran> TriggerRunner::Run(const follow::Event& event, Place) {
  const size_t savepoint = transaction_->Savepoint();
  const Status status = code_.Run(static_cast<const TriggerEvent&>(event), *transaction_);
  if (status.ok()) return Ran::kDone;
  transaction_->RollbackTo(savepoint);
  return Unexpected(status);
}

bool TriggerRunner::full() const {
  return transaction_->writes() >= kMostWrites || transaction_->bytes() >= kMostBytes;
}

db::Commit TriggerRunner::TakeCommit() {
  db::Commit commit = transaction_->TakeCommit();
  commit.origin = FollowerOf(name_);
  return commit;
}

void TriggerRunner::Committed(std::span<const follow::EventPtr> events) {
  transaction_.reset();
  HeadPassed();
  progress_.Lock()->handled += events.size();
}

void TriggerRunner::Refused(const Status&) {
  transaction_.reset();
  ++progress_.Lock()->conflicts;
}

// The event at the head was committed, or passed.
void TriggerRunner::HeadPassed() {
  pauses_.Reset();
  const auto progress = progress_.Lock();
  progress->attempts = 0;
  progress->event_id.clear();
}

follow::Verdict TriggerRunner::OnTrouble(follow::Trouble, const Status& status) {
  transaction_.reset();
  if (status.id() == "trigger.interrupted") return follow::Verdict::Again({});
  std::string id;
  if (const auto queue = follower_.Queue()) {
    const auto event = NextEvent(**queue);
    if (event && *event != nullptr) id = (*event)->id();
  }
  const std::chrono::milliseconds pause = pauses_.Next();
  const uint64_t now_ms = engine_.database().clock().WallMs();
  {
    const auto progress = progress_.Lock();
    ++progress->failures;
    progress->state = TriggerProgress::State::kFailing;
    progress->attempts = pauses_.attempts();
    progress->error = status.ToString();
    progress->error_ms = now_ms;
    progress->next_try_ms = now_ms + static_cast<uint64_t>(pause.count());
    if (progress->event_id != id) progress->first_failure_ms = now_ms;
    progress->event_id = std::move(id);
  }
  log::Warn("a trigger failed", {{"trigger", name_},
                                 {"attempts", std::to_string(pauses_.attempts())},
                                 {"pause_ms", std::to_string(pause.count())},
                                 {"error", status.ToString()}});
  return follow::Verdict::Again(pause);
}

}  // namespace sluice::procedure
