#include "flow_engine/run_timers.h"

#include <algorithm>
#include <chrono>

namespace sluice::flow_engine {

RunTimers::RunTimers(RunClock& time, RunThreads& threads, OnDue on_due)
    : time_(time), threads_(threads), on_due_(std::move(on_due)), wake_(time.clock()) {
  thread_ = Thread({"flow timer"}, [this] { Loop(); });
}

std::vector<LiveRunPtr> RunTimers::Stop() {
  waiting_.Lock()->stopping = true;
  wake_.Close();
  if (thread_.joinable()) thread_.join();
  std::vector<LiveRunPtr> had_timers;
  std::map<LaterId, Pool::Job> dropped;  // ends after the lock
  const auto waiting = waiting_.Lock();
  dropped.swap(waiting->later);
  for (const auto& [due_ms, run] : waiting->runs) {
    run->timer_ms = 0;
    had_timers.push_back(run);
  }
  waiting->runs.clear();
  return had_timers;
}

bool RunTimers::Waiting::MustWakeFor(uint64_t due_ms) {
  if (due_ms >= thread_wakes_ms) return false;
  thread_wakes_ms = due_ms;
  return true;
}

uint64_t RunTimers::Waiting::first_ms() const {
  const uint64_t run_ms = runs.empty() ? UINT64_MAX : runs.begin()->first;
  return later.empty() ? run_ms : std::min(run_ms, later.begin()->first.first);
}

void RunTimers::Set(LiveRun& run, std::optional<uint64_t> due_ms) {
  const uint64_t due = due_ms.value_or(0);
  if (run.timer_set_ms == due) return;
  run.timer_set_ms = due;
  bool wake = false;
  {
    const LiveRunPtr shared = run.shared_from_this();
    const auto waiting = waiting_.Lock();
    if (run.timer_ms == due || waiting->stopping) return;
    if (run.timer_ms != 0) waiting->runs.erase({run.timer_ms, shared});
    run.timer_ms = due;
    if (due == 0) return;
    waiting->runs.emplace(due, shared);
    wake = waiting->MustWakeFor(due);
  }
  if (wake) wake_.Wake();
}

void RunTimers::RunLater(LaterId id, Pool::Job job) {
  bool wake = false;
  {
    const auto waiting = waiting_.Lock();
    if (waiting->stopping) return;
    waiting->later.emplace(id, std::move(job));
    wake = waiting->MustWakeFor(id.first);
  }
  if (wake) wake_.Wake();
}

void RunTimers::Drop(LaterId id) {
  Pool::Job dropped;  // ends after the lock
  const auto waiting = waiting_.Lock();
  if (auto node = waiting->later.extract(id)) dropped = std::move(node.mapped());
}

void RunTimers::PostDue(const LiveRunPtr& run) {
  threads_.Post([this, run] {
    {
      const MutexLock lock(run->mutex);
      run->timer_set_ms = 0;
    }
    on_due_(run);
  });
}

void RunTimers::Loop() {
  constexpr uint64_t kLongestMs = 1000;  // the wall clock may be set
  while (true) {
    const uint64_t seen = wake_.news();
    time_.Adjust();
    const Clock::Time now = time_.clock().Now();
    const uint64_t now_ms = time_.MsAt(static_cast<uint64_t>(now.time_since_epoch().count()));
    uint64_t look_ms = 0;  // 0: something is due
    Pool::Job job;
    LiveRunPtr run;
    {
      const auto waiting = waiting_.Lock();
      if (waiting->stopping) return;
      if (waiting->first_ms() > now_ms) {
        look_ms = std::min(waiting->first_ms(), now_ms + kLongestMs);
        waiting->thread_wakes_ms = look_ms;
      } else if (!waiting->later.empty() && waiting->later.begin()->first.first <= now_ms) {
        job = std::move(waiting->later.extract(waiting->later.begin()).mapped());
      } else {
        run = std::move(waiting->runs.extract(waiting->runs.begin()).value().second);
        run->timer_ms = 0;
      }
    }
    if (look_ms != 0) {
      wake_.Wait(seen, now + std::chrono::milliseconds(look_ms - now_ms));
    } else if (job) {
      threads_.Post(std::move(job));
    } else {
      PostDue(run);
    }
  }
}

}  // namespace sluice::flow_engine
