#include "flow_engine/live_runs.h"

#include <algorithm>

namespace sluice::flow_engine {

void LiveRuns::Open(db::ShardId shard) {
  const MutexLock lock(mutex_);
  shards_.insert(shard);
}

std::vector<LiveRunPtr> LiveRuns::Close(db::ShardId shard) {
  const MutexLock lock(mutex_);
  shards_.erase(shard);
  ++waiting_;
  changed_.Wait(lock, [this]() REQUIRES(mutex_) {
    return std::ranges::none_of(runs_, [](const auto& each) { return each.second == nullptr; });
  });
  --waiting_;
  std::vector<LiveRunPtr> there;
  for (const auto& [id, run] : runs_) {
    if (run->shard == shard) there.push_back(run);
  }
  return there;
}

std::set<db::ShardId> LiveRuns::shards() const {
  const MutexLock lock(mutex_);
  return shards_;
}

bool LiveRuns::Add(const LiveRunPtr& run) {
  const MutexLock lock(mutex_);
  return shards_.contains(run->shard) && runs_.emplace(run->id, run).second;
}

LiveRunPtr LiveRuns::Find(const std::string& id) {
  const MutexLock lock(mutex_);
  while (true) {
    const auto found = runs_.find(id);
    if (found == runs_.end()) return nullptr;
    if (found->second != nullptr) return found->second;
    ++waiting_;
    changed_.Wait(lock);
    --waiting_;
  }
}

bool LiveRuns::Contains(const std::string& id) const {
  const MutexLock lock(mutex_);
  return runs_.contains(id);
}

void LiveRuns::Erase(const std::string& id) {
  runs_.erase(id);
  if (waiting_ > 0) changed_.NotifyAll();
}

void LiveRuns::Remove(const LiveRun& run) {
  const MutexLock lock(mutex_);
  const auto found = runs_.find(run.id);
  if (found != runs_.end() && found->second.get() == &run) Erase(run.id);
}

void LiveRuns::HandOver(const LiveRun& run, const std::function<bool()>& leaves,
                        const std::function<void()>& hand_over) {
  {
    const MutexLock lock(mutex_);
    const auto found = runs_.find(run.id);
    if (found == runs_.end() || found->second.get() != &run || !leaves()) return;
    found->second = nullptr;
    if (waiting_ > 0) changed_.NotifyAll();
  }
  hand_over();
  const MutexLock lock(mutex_);
  Erase(run.id);
}

void LiveRuns::WaitUntilGone(const LiveRun& run) {
  const MutexLock lock(mutex_);
  ++waiting_;
  changed_.Wait(lock, [&]() REQUIRES(mutex_) {
    const auto found = runs_.find(run.id);
    return found == runs_.end() || found->second.get() != &run;
  });
  --waiting_;
}

void LiveRuns::WaitUntilGone(const std::string& id) {
  const MutexLock lock(mutex_);
  ++waiting_;
  changed_.Wait(lock, [&]() REQUIRES(mutex_) { return !runs_.contains(id); });
  --waiting_;
}

void LiveRuns::Clear() {
  std::map<std::string, LiveRunPtr, std::less<>> runs;
  const MutexLock lock(mutex_);
  runs.swap(runs_);
  changed_.NotifyAll();
}

size_t LiveRuns::size() const {
  const MutexLock lock(mutex_);
  return runs_.size();
}

std::vector<LiveRunPtr> LiveRuns::All() const {
  std::vector<LiveRunPtr> all;
  const MutexLock lock(mutex_);
  for (const auto& [id, run] : runs_) {
    if (run != nullptr) all.push_back(run);
  }
  return all;
}

}  // namespace sluice::flow_engine
