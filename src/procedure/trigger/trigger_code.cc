#include "procedure/trigger/trigger_code.h"

#include <utility>

#include "base/log.h"
#include "json/print.h"
#include "procedure/db_object.h"
#include "procedure/trigger/event_value.h"

namespace sluice::procedure {
namespace {

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

Status CodeStopping() { return Error(Code::kCancelled, "trigger.stopping", "the trigger stops"); }

}  // namespace

void TriggerCode::Stop() {
  const std::lock_guard lock(mutex_);
  *stop_ = true;
  if (running_ != nullptr) running_->Stop();
}

void TriggerCode::Interrupt(const std::string& event_id) {
  const std::lock_guard lock(mutex_);
  if (running_ == nullptr || event_id > running_event_) return;
  interrupted_ = true;
  running_->Stop();
}

bool TriggerCode::has_new_program() const {
  const auto program = store_.Find(name_);
  return program && *program != program_;
}

Status TriggerCode::EnsureRuntime() {
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
                                        .cancelled = stop_,
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

Status TriggerCode::Run(const TriggerEvent& event, db::Transaction& transaction) {
  if (std::exchange(look_, false) || runtime_ == nullptr || runtime_->spent()) {
    RETURN_IF_ERROR(EnsureRuntime());
  }
  session_->events.Note(event);
  {
    const std::lock_guard lock(mutex_);
    if (stopped()) return CodeStopping();
    running_ = runtime_.get();
    running_event_ = event.id();
  }
  session_->request.transaction = &transaction;
  const lua::Finished finished = runtime_->Call({EventValue(event, {})});
  session_->request.transaction = nullptr;
  {
    const std::lock_guard lock(mutex_);
    running_ = nullptr;
    running_event_.clear();
    // A statement of it may have been ended, and a procedure can take that for an answer.
    if (stopped()) return CodeStopping();
    if (interrupted_ && !finished.ok()) {
      interrupted_ = false;
      return Error(Code::kCancelled, "trigger.interrupted", "an operator has ended the run");
    }
  }
  return CheckReturned(finished);
}

}  // namespace sluice::procedure
