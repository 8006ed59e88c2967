#include "flow_engine/run_timers.h"

#include <algorithm>
#include <chrono>

namespace sluice::flow_engine {

RunTimers::RunTimers(RunClock& time, RunThreads& threads, OnDue on_due)
    : time_(time), threads_(threads), on_due_(std::move(on_due)) {
  thread_ = Thread({"flow timer"}, [this] { Loop(); });
}

std::vector<LiveRunPtr> RunTimers::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  std::vector<LiveRunPtr> had_timers;
  std::map<LaterId, Pool::Job> dropped;
  const std::lock_guard lock(mutex_);
  dropped.swap(later_);
  for (const auto& [due_ms, run] : runs_) {
    run->timer_ms = 0;
    had_timers.push_back(run);
  }
  runs_.clear();
  return had_timers;
}

void RunTimers::Set(LiveRun& run, std::optional<uint64_t> due_ms) {
  const uint64_t due = due_ms.value_or(0);
  if (run.timer_set_ms == due) return;
  run.timer_set_ms = due;
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (run.timer_ms == due || stopping_) return;
    const LiveRunPtr shared = run.shared_from_this();
    if (run.timer_ms != 0) runs_.erase({run.timer_ms, shared});
    run.timer_ms = due;
    if (due == 0) return;
    runs_.emplace(due, shared);
    wake = MustWakeFor(due);
  }
  if (wake) wake_.notify_one();
}

bool RunTimers::MustWakeFor(uint64_t due_ms) {
  if (due_ms >= wakes_ms_) return false;
  wakes_ms_ = due_ms;
  return true;
}

void RunTimers::RunLater(LaterId id, Pool::Job job) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    later_.emplace(id, std::move(job));
    wake = MustWakeFor(id.first);
  }
  if (wake) wake_.notify_one();
}

void RunTimers::Drop(LaterId id) {
  Pool::Job dropped;  // ends when nobody waits for the mutex
  const std::lock_guard lock(mutex_);
  if (auto node = later_.extract(id)) dropped = std::move(node.mapped());
}

void RunTimers::PostDue(const LiveRunPtr& run) {
  threads_.Post([this, run] {
    {
      const std::lock_guard lock(run->mutex);
      run->timer_set_ms = 0;
    }
    on_due_(run);
  });
}

void RunTimers::Loop() {
  constexpr uint64_t kLongestMs = 1000;  // the wall clock may be set
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    time_.Adjust();
    const uint64_t now_ms = time_.NowMs();
    uint64_t due_ms = now_ms + kLongestMs;
    if (!runs_.empty()) due_ms = std::min(due_ms, runs_.begin()->first);
    if (!later_.empty()) due_ms = std::min(due_ms, later_.begin()->first.first);
    if (due_ms > now_ms) {
      wakes_ms_ = due_ms;
      wake_.wait_for(lock, std::chrono::milliseconds(due_ms - now_ms));
      continue;
    }
    if (!later_.empty() && later_.begin()->first.first <= now_ms) {
      auto job = later_.extract(later_.begin());
      lock.unlock();
      threads_.Post(std::move(job.mapped()));
      lock.lock();
      continue;
    }
    const LiveRunPtr run = runs_.begin()->second;
    run->timer_ms = 0;
    runs_.erase(runs_.begin());
    lock.unlock();
    PostDue(run);
    lock.lock();
  }
}

}  // namespace sluice::flow_engine
