#include "procedure/trigger/runner.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "json/print.h"
#include "procedure/db_object.h"
#include "procedure/trigger/event_value.h"

namespace sluice::procedure {
namespace {

constexpr size_t kMostAtOnce = 512;
// Far below what a commit may have.
constexpr size_t kMostWrites = db::kMaxCommitWrites / 4;
constexpr size_t kMostBytes = db::kMaxCommitBytes / 8;

// Effects of slow runs are not kept back for those after them: a batch ends after a while, and one
// whose runs were slow is followed by single ones.
constexpr std::chrono::milliseconds kLongestBatch(20);
constexpr std::chrono::milliseconds kSlowRun(2);

constexpr uint64_t kFirstPauseMs = 50;
constexpr uint64_t kLongestPauseMs = 30'000;
constexpr uint32_t kMaxDoublings = 10;
constexpr uint32_t kMaxConflicts = 20;  // in a row, without a pause
// How often an idle trigger stores that it has passed changes that it leaves out, so that it does
// not hold the log for them.
constexpr std::chrono::seconds kStorePlace(1);

bool IsPassing(const Status& status) {
  return status.code() == Code::kOverloaded || status.code() == Code::kNoSpace ||
         status.code() == Code::kIo;
}

// What main has to return is 0.
Status CheckReturned(const lua::Finished& finished) {
  if (!finished.ok()) {
    Status status =
        Error(Code::kInvalidArgument, "procedure.failed", "{}", finished.outcome.message);
    return finished.outcome.stack.empty() ? status : status.With("stack", finished.outcome.stack);
  }
  const Value* const value =
      finished.values.empty() ? nullptr : std::get_if<Value>(&finished.values[0]);
  if (value == nullptr || value->is_missing()) {
    return Error(Code::kInvalidArgument, "trigger.returned",
                 "main returned nothing: it has to return 0");
  }
  if (value->is_number() && value->ToDouble() == 0) return OkStatus();
  return Error(Code::kInvalidArgument, "trigger.returned", "main returned {}: it has to return 0",
               value->is_string() ? value->AsString() : json::ToText(*value));
}

}  // namespace

std::string_view StateName(TriggerProgress::State state) {
  static constexpr std::string_view kNames[] = {"waiting", "running", "failing", "held", "stopped"};
  return kNames[static_cast<size_t>(state)];
}

TriggerRunner::TriggerRunner(query::QueryEngine& engine, const Store& store,
                             std::shared_ptr<LiveQueue> queue,
                             std::shared_ptr<failure::FailureList> dead_letters, lua::Limits limits)
    : engine_(engine),
      store_(store),
      queue_(std::move(queue)),
      dead_letters_(std::move(dead_letters)),
      name_(queue_->definition()->name),
      limits_(limits),
      random_(engine.database().NewCas()),
      most_at_once_(1) {
  thread_ = Thread({"trigger", name_}, [this] { Loop(); });
}

TriggerRunner::~TriggerRunner() {
  Stop();
  thread_.join();
}

void TriggerRunner::Stop() {
  {
    const std::lock_guard lock(mutex_);
    *ending_ = true;
    if (running_ != nullptr) running_->Stop();
  }
  queue_->Wake();
}

TriggerProgress TriggerRunner::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

void TriggerRunner::SetState(TriggerProgress::State state) {
  const std::lock_guard lock(mutex_);
  progress_.state = state;
}

void TriggerRunner::Loop() {
  while (!ending() && Step()) {
  }
  RefuseCommands();
  SetState(TriggerProgress::State::kStopped);
}

bool TriggerRunner::Step() {
  const uint64_t seen = queue_->news();
  const auto definition = queue_->definition();
  if (definition != definition_) events_.reset();
  definition_ = definition;
  RunCommands();
  if (definition->held) {
    SetState(TriggerProgress::State::kHeld);
    queue_->Wait(seen);
    return true;
  }
  bool idle = false;
  const Status status = RunBatch(&idle);
  if (ending()) return false;
  if (status.id() == "cursor.not_found" || status.id() == "cursor.moved") {
    // It was dropped, or made anew under the same name.
    return false;
  }
  if (status.id() == "trigger.interrupted") return true;
  if (!status.ok()) {
    Failed(status);
    PauseAfterFailure();
  } else if (idle) {
    Rest(seen);
  }
  return true;
}

void TriggerRunner::Rest(uint64_t seen) {
  SetState(TriggerProgress::State::kWaiting);
  if (!events_->HasMove()) {
    queue_->Wait(seen);
    return;
  }
  const auto waited = queue_->Wait(seen, std::chrono::steady_clock::now() + kStorePlace);
  if (waited != LiveQueue::Waited::kTimeout) return;
  db::Commit commit;
  commit.cursor_moves.push_back(events_->Move());
  if (engine_.database().Apply(std::move(commit)).status.ok()) events_->Committed();
}

Status TriggerRunner::OpenQueue() {
  if (events_ == nullptr) {
    ASSIGN_OR_RETURN(EventQueue queue, EventQueue::Open(engine_, definition_));
    events_ = std::make_unique<EventQueue>(std::move(queue));
  }
  events_->Rewind();
  return OkStatus();
}

// As many events as are there and fit into a commit. `idle`: there was none.
Status TriggerRunner::RunBatch(bool* idle) {
  RETURN_IF_ERROR(OpenQueue());
  ASSIGN_OR_RETURN(const TriggerEvent* event, events_->Next());
  *idle = event == nullptr;
  if (*idle) return OkStatus();
  SetState(TriggerProgress::State::kRunning);
  RETURN_IF_ERROR(EnsureRuntime());
  db::Transaction transaction(engine_.database());
  session_->request.transaction = &transaction;
  Status failed;
  size_t done = 0;
  const auto started = std::chrono::steady_clock::now();
  const auto room = [&] {
    return done < most_at_once_ && transaction.writes() < kMostWrites &&
           transaction.bytes() < kMostBytes &&
           std::chrono::steady_clock::now() < started + kLongestBatch;
  };
  while (event != nullptr && failed.ok() && room() && !ending()) {
    const size_t savepoint = transaction.Savepoint();
    failed = RunOne(*event);
    if (failed.ok()) {
      events_->Take();
      ++done;
      ASSIGN_OR_RETURN(event, events_->Next());
    } else {
      transaction.RollbackTo(savepoint);
    }
  }
  session_->request.transaction = nullptr;
  const bool slow = std::chrono::steady_clock::now() - started > kSlowRun * (done + 1);
  most_at_once_ = slow ? 1 : std::min(most_at_once_ * 2, kMostAtOnce);
  if (ending() && !failed.ok()) return failed;
  if (done > 0) RETURN_IF_ERROR(Commit(transaction, done));
  return failed;
}

Status TriggerRunner::EnsureRuntime() {
  ASSIGN_OR_RETURN(auto program, store_.Find(name_));
  if (runtime_ != nullptr && !runtime_->spent() && program == program_) return OkStatus();
  runtime_.reset();
  program_ = std::move(program);
  session_ =
      std::make_unique<Session>(Session{.engine = engine_,
                                        .store = store_,
                                        .triggers = nullptr,
                                        .name = name_,
                                        .context = {},
                                        .request = {},
                                        .cancelled = ending_,
                                        .emit = [](const Value&) -> Status {
                                          return Error(Code::kInvalidArgument, "trigger.no_client",
                                                       "a trigger has no client to emit rows to");
                                        },
                                        .client = nullptr,
                                        .nesting = 1});
  session_->request.user = FollowerOf(name_);
  session_->role = Session::Role::kTrigger;
  lua::RuntimeOptions options;
  options.program = program_;
  options.limits = limits_;
  options.globals.emplace_back("db", std::make_shared<DbObject>(*session_));
  options.print = [this](std::string_view line) {
    log::Info("a trigger prints", {{"trigger", name_}, {"line", std::string(line)}});
  };
  script::Outcome failed;
  runtime_ = lua::Runtime::Start(std::move(options), &failed);
  if (runtime_ == nullptr) {
    return Error(Code::kInvalidArgument, "procedure.failed", "{}", failed.message);
  }
  session_->runtime = runtime_.get();
  const std::lock_guard lock(mutex_);
  interrupted_ = false;
  return OkStatus();
}

Status TriggerRunner::RunOne(const TriggerEvent& event) {
  if (runtime_->spent()) RETURN_IF_ERROR(EnsureRuntime());
  session_->events.Note(event);
  {
    const std::lock_guard lock(mutex_);
    if (*ending_) return Error(Code::kCancelled, "trigger.stopping", "the trigger stops");
    running_ = runtime_.get();
    running_event_ = event.id();
  }
  const lua::Finished finished = runtime_->Call({EventValue(event, {})});
  {
    const std::lock_guard lock(mutex_);
    running_ = nullptr;
    running_event_.clear();
    // A statement of it may have been ended, and a procedure can take that for an answer.
    if (*ending_) return Error(Code::kCancelled, "trigger.stopping", "the trigger stops");
    if (interrupted_ && !finished.ok()) {
      interrupted_ = false;
      return Error(Code::kCancelled, "trigger.interrupted", "an operator has ended the run");
    }
  }
  return CheckReturned(finished);
}

// Waits until it is durable. A refusal leaves nothing taken, so that the events are run again.
Status TriggerRunner::Commit(db::Transaction& transaction, size_t events) {
  db::Commit commit = transaction.TakeCommit();
  commit.shard = 0;
  commit.origin = FollowerOf(name_);
  commit.cursor_moves.push_back(events_->Move());
  const Status status = engine_.database().Apply(std::move(commit)).status;
  if (status.ok()) {
    HeadPassed();
    const std::lock_guard lock(mutex_);
    progress_.handled += events;
    return OkStatus();
  }
  const bool conflict = status.code() == Code::kConflict && status.id() != "cursor.moved";
  const bool too_large = events > 1 && !IsPassing(status) && status.id() != "cursor.moved";
  most_at_once_ = 1;
  if (!(conflict && attempts_ < kMaxConflicts) && !too_large) return status;
  // Somebody changed what was read, or it was too much for one commit: again, at once.
  ++attempts_;
  const std::lock_guard lock(mutex_);
  ++progress_.conflicts;
  return OkStatus();
}

// What was taken is committed.
void TriggerRunner::HeadPassed() {
  events_->Committed();
  attempts_ = 0;
  const std::lock_guard lock(mutex_);
  progress_.attempts = 0;
  progress_.event_id.clear();
}

void TriggerRunner::Failed(const Status& status) {
  std::string id;
  if (events_ != nullptr) {
    events_->Rewind();
    const auto event = events_->Next();
    if (event && *event != nullptr) id = (*event)->id();
  }
  const std::lock_guard lock(mutex_);
  ++attempts_;
  ++progress_.failures;
  progress_.attempts = attempts_;
  progress_.error = status.ToString();
  progress_.error_ms = engine_.database().clock().WallMs();
  if (progress_.event_id != id) progress_.first_failure_ms = progress_.error_ms;
  progress_.event_id = std::move(id);
}

// Other events do not end the pause; a change of the trigger or of its procedure does.
void TriggerRunner::PauseAfterFailure() {
  const uint32_t doublings = std::min(attempts_ > 0 ? attempts_ - 1 : 0, kMaxDoublings);
  const uint64_t longest = std::min(kFirstPauseMs << doublings, kLongestPauseMs);
  const uint64_t pause_ms = longest - random_.Below(longest / 4 + 1);
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(pause_ms);
  {
    const std::lock_guard lock(mutex_);
    progress_.state = TriggerProgress::State::kFailing;
    progress_.next_try_ms = engine_.database().clock().WallMs() + pause_ms;
  }
  log::Warn("a trigger failed", {{"trigger", name_},
                                 {"attempts", std::to_string(attempts_)},
                                 {"pause_ms", std::to_string(pause_ms)},
                                 {"error", progress().error}});
  most_at_once_ = 1;
  while (!ending() && std::chrono::steady_clock::now() < until) {
    const uint64_t seen = queue_->news();
    if (queue_->definition() != definition_ || HasCommands()) return;
    if (const auto program = store_.Find(name_); program && *program != program_) return;
    queue_->Wait(seen, until);
  }
}

}  // namespace sluice::procedure
