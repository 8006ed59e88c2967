// Documents that were read and are to say so. Readers add to it and never wait: what does not fit,
// or comes while another thread is in here, is dropped, and the next read adds it again. Any
// thread.
#pragma once

#include <atomic>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/mutex.h"
#include "db/types.h"

namespace sluice::db {

class AccessQueue {
 public:
  static constexpr size_t kMaxQueued = 1000;
  using Entries = std::set<std::pair<KeyspaceId, std::string>>;

  bool full() const { return size_.load(std::memory_order_relaxed) >= kMaxQueued; }

  void Add(KeyspaceId keyspace, std::string_view key) {
    if (!mutex_.TryLock()) return;
    if (entries_.size() < kMaxQueued) entries_.emplace(keyspace, key);
    size_.store(entries_.size(), std::memory_order_relaxed);
    mutex_.Unlock();
  }

  Entries Take() {
    if (size_.load(std::memory_order_relaxed) == 0) return {};
    const MutexLock lock(mutex_);
    size_.store(0, std::memory_order_relaxed);
    return std::exchange(entries_, {});
  }

 private:
  std::atomic<size_t> size_ = 0;
  Mutex mutex_;
  Entries entries_ GUARDED_BY(mutex_);
};

}  // namespace sluice::db
