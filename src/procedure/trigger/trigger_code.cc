#include "procedure/trigger/trigger_code.h"

#include <utility>

#include "base/log.h"
#include "json/print.h"
#include "procedure/db_object.h"
#include "procedure/trigger/event_value.h"

namespace sluice::procedure {
namespace {

// main must return 0.
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

Status CodeStopping() { return Error(Code::kCancelled, "trigger.stopping", "the trigger stops"); }

}  // namespace

Status TriggerShardLost(db::ShardId shard) {
  return Error(Code::kUnavailable, "trigger.shard_lost",
               "this server does not own shard {}, to which the event belongs", shard);
}

// A statement for which the procedure waits ends, too.
void TriggerCode::Running::End() {
  if (cancelled != nullptr) *cancelled = true;
  if (runtime != nullptr) runtime->Stop();
}

void TriggerCode::Stop() {
  const auto running = running_.Lock();
  stopped_ = true;
  running->End();
}

void TriggerCode::Interrupt(const std::string& event_id) {
  const auto running = running_.Lock();
  if (running->runtime == nullptr) return;
  if (!event_id.empty()) {
    const auto shard = std::string_view(event_id).substr(0, kEventIdShardBytes);
    if (!running->event_id.starts_with(shard) || event_id > running->event_id) return;
  }
  running->interrupted = true;
  running->End();
}

void TriggerCode::EndRunIn(db::ShardId shard) {
  const auto running = running_.Lock();
  if (running->runtime != nullptr && running->shard == shard) running->End();
}

bool TriggerCode::HasOtherThan(const std::shared_ptr<const lua::Program>& program) const {
  const auto present = store_.Find(name_);
  return present && *present != program;
}

Status TriggerCode::EnsureRuntime() {
  ASSIGN_OR_RETURN(auto program, store_.Find(name_));
  if (runtime_ != nullptr && !runtime_->spent() && program == program_) return OkStatus();
  runtime_.reset();
  program_ = std::move(program);
  const auto cancelled = std::make_shared<std::atomic<bool>>(false);
  session_ =
      std::make_unique<Session>(Session{.engine = engine_,
                                        .store = store_,
                                        .triggers = nullptr,
                                        .name = name_,
                                        .context = {},
                                        .request = {},
                                        .cancelled = cancelled,
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
  running_.Lock()->cancelled = cancelled;
  return OkStatus();
}

Status TriggerCode::Run(const TriggerEvent& event, db::Transaction& transaction,
                        const follow::Tenure& tenure) {
  if (std::exchange(look_, false) || runtime_ == nullptr || runtime_->spent()) {
    RETURN_IF_ERROR(EnsureRuntime());
  }
  session_->events.Note(event);
  {
    const auto running = running_.Lock();
    if (stopped()) return CodeStopping();
    if (tenure.over()) return TriggerShardLost(event.shard);
    running->runtime = runtime_.get();
    running->event_id = event.id();
    running->shard = event.shard;
  }
  session_->request.transaction = &transaction;
  const lua::Finished finished = runtime_->Call({EventValue(event, {})});
  session_->request.transaction = nullptr;
  bool interrupted = false;
  {
    const auto running = running_.Lock();
    running->runtime = nullptr;
    running->event_id.clear();
    interrupted = std::exchange(running->interrupted, false);
  }
  // Whoever ends a run also ends the statement that the procedure waits for. The procedure may
  // handle that error and succeed, so what it returned does not count.
  if (stopped()) return CodeStopping();
  if (tenure.over()) {
    runtime_.reset();
    return TriggerShardLost(event.shard);
  }
  if (interrupted) {
    runtime_.reset();
    return Error(Code::kCancelled, "trigger.interrupted", "an operator has ended the run");
  }
  return CheckReturned(finished);
}

}  // namespace sluice::procedure
