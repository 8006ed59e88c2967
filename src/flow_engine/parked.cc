#include "flow_engine/parked.h"

#include <algorithm>
#include <chrono>

namespace sluice::flow_engine {
namespace {

constexpr uint64_t kLongestMs = 1000;  // the wall clock may be set
constexpr uint64_t kAgainMs = 100;

}  // namespace

void ParkedRuns::Start() {
  thread_ = Thread({"flow parked"}, [this] { Loop(); });
}

void ParkedRuns::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ParkedRuns::Add(const std::string& id, uint64_t due_ms) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (!by_id_.emplace(id, due_ms).second) return;
    first = by_time_.empty() || due_ms < by_time_.begin()->first;
    by_time_.emplace(due_ms, id);
  }
  if (first) changed_.notify_one();
}

bool ParkedRuns::Take(const std::string& id) {
  std::unique_lock lock(mutex_);
  woken_.wait(lock, [&] { return waking_ != id; });
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return false;
  by_time_.erase({found->second, id});
  by_id_.erase(found);
  return true;
}

size_t ParkedRuns::size() const {
  const std::lock_guard lock(mutex_);
  return by_id_.size();
}

void ParkedRuns::Loop() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    time_.Adjust();
    const uint64_t now_ms = time_.NowMs();
    if (by_time_.empty() || by_time_.begin()->first > now_ms) {
      const uint64_t left_ms = by_time_.empty() ? kLongestMs : by_time_.begin()->first - now_ms;
      changed_.wait_for(lock, std::chrono::milliseconds(std::min(left_ms, kLongestMs)));
      continue;
    }
    const auto [due_ms, id] = *by_time_.begin();
    by_time_.erase(by_time_.begin());
    by_id_.erase(id);
    waking_ = id;
    lock.unlock();
    const bool woken = wake_(id);
    lock.lock();
    waking_.clear();
    if (!woken) {
      by_id_.emplace(id, due_ms);
      by_time_.emplace(due_ms, id);
    }
    woken_.notify_all();
    if (woken) continue;
    changed_.wait_for(lock, std::chrono::milliseconds(kAgainMs));
  }
}

}  // namespace sluice::flow_engine
