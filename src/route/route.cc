#include "route/route.h"

namespace sluice::route {

Route::Slot* Route::TryEnter() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    if (slots_.size() >= static_cast<size_t>(limits_.instances)) return nullptr;
    slots_.push_back(std::make_unique<Slot>(static_cast<int>(slots_.size()) + 1));
    return slots_.back().get();
  }
  Slot* const slot = free_.back();
  free_.pop_back();
  return slot;
}

Result<Route::Slot*> Route::Enter(Job& job) {
  if (Slot* const slot = TryEnter(); slot != nullptr) return slot;
  const std::lock_guard lock(mutex_);
  // One may have become free meanwhile.
  if (!free_.empty()) {
    Slot* const slot = free_.back();
    free_.pop_back();
    return slot;
  }
  if (waiting_.size() >= limits_.queue) {
    return Fail(Code::kOverloaded, "route.overloaded",
                "route '{}' is overloaded: {} calls wait for its {} instances", name_,
                waiting_.size(), limits_.instances);
  }
  waiting_.push_back(std::move(job));
  return nullptr;
}

std::optional<Route::Job> Route::Leave(Slot* slot) {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) {
    free_.push_back(slot);
    return std::nullopt;
  }
  Job job = std::move(waiting_.front());
  waiting_.pop_front();
  return job;
}

Status Route::Prepare(Slot& slot) {
  if (slot.instance != nullptr) return OkStatus();
  ASSIGN_OR_RETURN(slot.instance, maker_());
  return OkStatus();
}

TaskOutput Route::Run(Slot& slot, TaskInput input) {
  input.instance = slot.number;
  const Status made = Prepare(slot);
  TaskOutput output =
      made.ok() ? slot.instance->Run(input) : TaskOutput::Failure(500, made.message());
  if (output.status < 100 || output.status > 599) {
    output = TaskOutput::Failure(
        500, fmt::format("{} answered with {}, which is no status", name_, output.status));
  }
  const std::lock_guard lock(mutex_);
  ++calls_;
  if (output.status >= 400) ++failures_;
  return output;
}

Route::Stats Route::stats() const {
  const std::lock_guard lock(mutex_);
  return {static_cast<int>(slots_.size() - free_.size()), waiting_.size(), calls_, failures_};
}

}  // namespace sluice::route
