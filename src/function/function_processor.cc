#include "function/function_processor.h"

#include <chrono>
#include <utility>

#include "base/log.h"

namespace sluice::function {
namespace {

// The time limit of an event that is not the first of its batch. If it takes longer, it is undone,
// so that the events before it can be committed, and runs again as the first of the next batch.
constexpr uint64_t kLongestInBatchMs = 100;
constexpr std::chrono::milliseconds kDatabasePause(100);

// Whether the error means that the database can't go on.
bool EndsFunction(const Status& status) {
  return status.code() == Code::kUnavailable || status.code() == Code::kCancelled ||
         status.code() == Code::kInternal;
}

// Events that are not committed run again when the function goes on.
Status FunctionStopping() {
  return Error(Code::kUnavailable, "function.stopping", "the function stops");
}

}  // namespace

FunctionProcessor::FunctionProcessor(ProcessorContext context)
    : context_(std::move(context)),
      under_way_(context_.services.under_way, context_.definition->Location()),
      random_(context_.services.database.NewCas()),
      log_(context_.log, context_.services.clock),
      insight_(context_.insight, context_.services.clock) {}

Status FunctionProcessor::Load() {
  if (handler_ != nullptr && !handler_->spent()) return OkStatus();
  if (handler_ != nullptr) ++context_.statistics.isolates_replaced;
  turn_.reset();
  handler_.reset();
  script::Outcome failed;
  handler_ = Handler::Make(
      context_.services, context_.definition, context_.prepared.program,
      [this](std::string_view line) { log_.Add(LogLevel::kInfo, line); }, &failed,
      context_.inspector, stop_);
  if (handler_ != nullptr) {
    handler_->Attach(context_.statistics, insight_);
    return OkStatus();
  }
  if (stopping()) return FunctionStopping();
  return Error(Code::kInternal, "function.not_loaded", "the function can't be loaded: {}",
               failed.message);
}

void FunctionProcessor::Begin() {
  effects_.reset();
  spoiled_ = false;
}

Result<follow::Processor::Ran> FunctionProcessor::Run(const follow::Event& followed, Place place) {
  const Event& event = static_cast<const Event&>(followed);
  if (place == Place::kFirst) {
    shard_ = event.shard;
    effects_.emplace(context_.services.database, shard_, context_.follower,
                     context_.failures.owner());
  }
  RETURN_IF_ERROR(Load());
  if (!turn_) turn_.emplace(*handler_);
  handler_->set_longest_ms(place == Place::kLater && !event.retry ? kLongestInBatchMs : 0);
  const Effects::Savepoint before = effects_->Mark();
  const size_t lines = log_.size();
  const Status ran = RunOne(event);
  if (handler_->cut_short()) {
    effects_->UndoTo(before);
    log_.CutTo(lines);
    return Ran::kAlone;
  }
  if (!ran.ok()) {
    spoiled_ = true;  // a retry that it took can't be given back
    return Unexpected(ran);
  }
  // After an HTTP request, commit at once, so that a crash repeats as few requests as possible.
  return handler_->called_out() ? Ran::kDoneLast : Ran::kDone;
}

Status FunctionProcessor::RunOne(const Event& event) {
  insight_.Begin();
  if (event.retry) return RunRetry(event);
  return event.timer ? RunTimer(event) : RunChange(event);
}

FunctionProcessor::Attempted FunctionProcessor::Ended(const Effects::Savepoint& savepoint,
                                                      const script::Outcome& outcome) {
  under_way_.End();
  if (handler_->interrupted() || handler_->cut_short()) return Unexpected(FunctionStopping());
  if (outcome.ok()) return std::nullopt;
  effects_->RollbackTo(savepoint);
  return ProblemOf(outcome);
}

FunctionProcessor::Attempted FunctionProcessor::Try(const Event& event) {
  if (refused_) return *refused_;
  if (!event.unreadable.empty()) {
    failure::Problem problem;
    problem.kind = kUnreadable;
    problem.message = event.unreadable;
    return problem;
  }
  const Effects::Savepoint savepoint = effects_->Mark();
  under_way_.Begin(UnderWay::Kind::kDocument, event.sequence, event.key);
  return Ended(savepoint, handler_->Run(*turn_, *effects_, event));
}

FunctionProcessor::Attempted FunctionProcessor::Try(const timer::Timer& timer) {
  if (refused_) return *refused_;
  if (!handler_->HasCallback(*turn_, timer.callback)) {
    failure::Problem problem;
    problem.kind = kMissing;
    problem.message = fmt::format("the function has no callback '{}'", timer.callback);
    return problem;
  }
  const Effects::Savepoint savepoint = effects_->Mark();
  under_way_.Begin(UnderWay::Kind::kTimer, timer.moment.id, timer.reference);
  return Ended(savepoint, handler_->RunTimer(*turn_, *effects_, timer));
}

void FunctionProcessor::Log(std::string_view what, const failure::Problem& problem) {
  if (problem.kind == kTimeout) ++effects_->counts().timeouts;
  insight_.AddError(static_cast<int>(problem.line), problem.message);
  log_.Add(LogLevel::kError, fmt::format("{} failed: {}{}", what, problem.message,
                                         problem.stack.empty() ? "" : "\n" + problem.stack));
}

Status FunctionProcessor::RunChange(const Event& event) {
  ASSIGN_OR_RETURN(std::optional<failure::Problem> problem, Try(event));
  Effects::Counts& counts = effects_->counts();
  const bool update = HasDocument(event.operation);
  if (!problem) {
    ++(update ? counts.on_update_success : counts.on_delete_success);
    return OkStatus();
  }
  ++(update ? counts.on_update_failure : counts.on_delete_failure);
  Log(fmt::format("{} of document '{}'", HandlerOf(event), event.key), *problem);
  const auto catalog = context_.services.database.catalog();
  const db::KeyspaceInfo* keyspace = catalog->Find(event.keyspace);
  const db::KeyspaceName& name = keyspace == nullptr ? context_.definition->source : keyspace->name;
  return Keep(event.key, KeptEvent(event, name), std::move(*problem));
}

// The timer ends whatever its callback does. It may have been cancelled, replaced or run since it
// was handed out; then there is nothing to do.
Status FunctionProcessor::RunTimer(const Event& event) {
  ASSIGN_OR_RETURN(const std::optional<timer::Timer> timer, effects_->timers().Take(*event.timer));
  if (!timer) return OkStatus();
  Effects::Counts& counts = effects_->counts();
  ++counts.timers_due;
  ASSIGN_OR_RETURN(std::optional<failure::Problem> problem, Try(*timer));
  if (!problem) {
    ++counts.callback_success;
    return OkStatus();
  }
  ++(problem->kind == kMissing ? counts.callback_missing : counts.callback_failure);
  Log(fmt::format("timer '{}'", event.key), *problem);
  return Keep(event.key, KeptEvent(*timer), std::move(*problem));
}

db::Commit FunctionProcessor::TakeCommit() {
  earliest_timer_ms_ = effects_->timers().earliest_ms();
  earliest_retry_ms_ = effects_->failures().earliest_ms();
  db::Commit commit = effects_->TakeCommit();
  commit.origin = context_.follower;
  commit.actor = "function:" + context_.definition->name;
  return commit;
}

void FunctionProcessor::Committed(std::span<const follow::EventPtr>) {
  Count(effects_->counts());
  log_.Release();
  insight_.Release();
  FailuresCommitted();
  refused_.reset();
  effects_.reset();
  context_.services.Progressed();
}

void FunctionProcessor::Count(const Effects::Counts& counts) {
  Statistics& statistics = context_.statistics;
  ++statistics.commits;
  statistics.on_update_success += counts.on_update_success;
  statistics.on_update_failure += counts.on_update_failure;
  statistics.on_delete_success += counts.on_delete_success;
  statistics.on_delete_failure += counts.on_delete_failure;
  statistics.timeouts += counts.timeouts;
  statistics.timers_created += counts.timers_created;
  statistics.timers_cancelled += counts.timers_cancelled;
  statistics.timer_contexts_too_large += counts.contexts_too_large;
  statistics.timers_due += counts.timers_due;
  statistics.timer_success += counts.callback_success;
  statistics.timer_failure += counts.callback_failure;
  statistics.timer_callback_missing += counts.callback_missing;
  statistics.retry_success += counts.retry_success;
  statistics.retry_failure += counts.retry_failure;
  if (earliest_timer_ms_) context_.timers.Created(context_.follower, shard_, *earliest_timer_ms_);
}

void FunctionProcessor::Refused(const Status& status) {
  Drop();
  if (status.code() == Code::kConflict) ++context_.statistics.conflicts;
}

void FunctionProcessor::Drop() {
  log_.Drop();
  insight_.Drop();
  effects_.reset();
}

// The isolate goes, too: it may still have a stop that came too late for its call.
void FunctionProcessor::ForgetStop() {
  *stop_ = false;
  refused_.reset();
  Drop();
  turn_.reset();
  handler_.reset();
}

void FunctionProcessor::LetGo(std::span<const follow::EventPtr> events) {
  std::vector<timer::Moment> timers;
  std::vector<timer::Moment> retries;
  uint64_t bytes = 0;
  for (const follow::EventPtr& followed : events) {
    const Event& event = static_cast<const Event&>(*followed);
    if (event.timer) {
      (event.retry ? retries : timers).push_back(*event.timer);
    } else {
      bytes += event.bytes;
    }
  }
  context_.statistics.backlog_bytes -= bytes;
  context_.statistics.backlog -= events.size() - timers.size() - retries.size();
  if (timers.empty() && retries.empty()) return;
  // Both owners wait for the same room.
  context_.timers.Done(context_.follower, timers);
  context_.timers.Done(failure::RetryOwner(context_.failures.owner()), retries);
}

// If the commit of an event is refused because of its writes, the event is a failure. It runs again
// without a call of the handler, and its commit has only the failure.
follow::Verdict FunctionProcessor::OnTrouble(follow::Trouble trouble, const Status& status) {
  Drop();
  if (trouble == follow::Trouble::kFailed || EndsFunction(status)) return follow::Verdict::End();
  if (trouble == follow::Trouble::kDatabase) {
    ++context_.statistics.commit_failures;
    log::Warn("a function waits to commit",
              {{"function", context_.definition->name}, {"error", status.ToString()}});
    return follow::Verdict::Again(kDatabasePause);
  }
  if (refused_) return follow::Verdict::End();  // not even that it failed can be kept
  refused_.emplace();
  refused_->kind = kCommit;
  refused_->type = status.id();
  refused_->message = status.ToString();
  return follow::Verdict::Again({});
}

}  // namespace sluice::function
