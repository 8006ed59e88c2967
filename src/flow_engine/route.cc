#include "flow_engine/route.h"

#include <algorithm>

namespace sluice::flow_engine {

std::atomic<Route::Slot*>& Route::MySpot() {
  static std::atomic<size_t> threads = 0;
  thread_local const size_t mine = threads++ % kSpots;
  return spots_[mine].slot;
}

Route::Slot* Route::TryEnter() {
  if (waiting_count_.load() == 0) {
    if (Slot* const slot = MySpot().exchange(nullptr); slot != nullptr) return slot;
  }
  const auto table = table_.Lock();
  return table->waiting.empty() ? TakeFree(*table) : nullptr;
}

Route::Slot* Route::TakeFree(Table& table) {
  if (!table.free.empty()) {
    Slot* const slot = table.free.back();
    table.free.pop_back();
    return slot;
  }
  for (Spot& spot : spots_) {
    if (spot.slot.load() == nullptr) continue;
    if (Slot* const slot = spot.slot.exchange(nullptr); slot != nullptr) return slot;
  }
  if (table.slots.size() >= static_cast<size_t>(limits_.instances)) return nullptr;
  table.slots.push_back(std::make_unique<Slot>(static_cast<int>(table.slots.size()) + 1));
  return table.slots.back().get();
}

Result<Route::Slot*> Route::Enter(Job& job) {
  if (Slot* const slot = TryEnter(); slot != nullptr) return slot;
  const auto table = table_.Lock();
  ++waiting_count_;
  // One may have become free meanwhile.
  if (Slot* const slot = table->waiting.empty() ? TakeFree(*table) : nullptr; slot != nullptr) {
    --waiting_count_;
    return slot;
  }
  if (table->waiting.size() >= limits_.queue) {
    --waiting_count_;
    return Fail(Code::kOverloaded, "route.overloaded",
                "route '{}' is overloaded: {} calls wait for its {} instances", name_,
                table->waiting.size(), limits_.instances);
  }
  table->waiting.push_back(std::move(job));
  return nullptr;
}

std::optional<Route::Job> Route::Leave(Slot* slot) {
  if (waiting_count_.load() == 0) {
    Slot* none = nullptr;
    if (MySpot().compare_exchange_strong(none, slot)) {
      if (waiting_count_.load() == 0) return std::nullopt;
      // Somebody has begun to wait. If the instance is gone, the thread that took it will find the
      // waiting call when it leaves.
      Slot* left = slot;
      if (!MySpot().compare_exchange_strong(left, nullptr)) return std::nullopt;
    }
  }
  const auto table = table_.Lock();
  if (table->waiting.empty()) {
    table->free.push_back(slot);
    return std::nullopt;
  }
  Job job = std::move(table->waiting.front());
  table->waiting.pop_front();
  --waiting_count_;
  return job;
}

void Route::DropWaiting() {
  std::deque<Job> dropped;  // ends without the lock
  const auto table = table_.Lock();
  dropped.swap(table->waiting);
  waiting_count_ -= dropped.size();
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
        500, fmt::format("{} answered with {}, which is not a status", name_, output.status));
  }
  slot.calls.store(slot.calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (output.status >= 400) ++slot.failures;
  return output;
}

Route::Stats Route::stats() const {
  const auto table = table_.Lock();
  size_t unused = table->free.size();
  for (const Spot& spot : spots_) unused += spot.slot.load() != nullptr;
  Stats stats;
  // An instance may have moved to a spot that was looked at before.
  stats.busy = static_cast<int>(table->slots.size() - std::min(unused, table->slots.size()));
  stats.waiting = table->waiting.size();
  for (const auto& slot : table->slots) {
    stats.calls += slot->calls;
    stats.failures += slot->failures;
  }
  return stats;
}

}  // namespace sluice::flow_engine
