// Documents that were read and are to say so. Readers add to it and never wait: what does not fit,
// or comes while another thread is in here, is dropped, and the next read adds it again. Any
// thread.
#pragma once

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "db/types.h"

namespace sluice::db {

class AccessQueue {
 public:
  static constexpr size_t kMaxQueued = 1000;
  using Entries = std::set<std::pair<KeyspaceId, std::string>>;

  bool full() const { return size_.load(std::memory_order_relaxed) >= kMaxQueued; }

  void Add(KeyspaceId keyspace, std::string_view key) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || entries_.size() >= kMaxQueued) return;
    entries_.emplace(keyspace, key);
    size_.store(entries_.size(), std::memory_order_relaxed);
  }

  Entries Take() {
    if (size_.load(std::memory_order_relaxed) == 0) return {};
    const std::lock_guard lock(mutex_);
    size_.store(0, std::memory_order_relaxed);
    return std::exchange(entries_, {});
  }

 private:
  std::atomic<size_t> size_ = 0;
  std::mutex mutex_;
  Entries entries_;  // guarded by mutex_
};

}  // namespace sluice::db
