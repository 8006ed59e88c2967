// The documents that were read and must record the time of that read (DocumentPolicy::Accessed).
// Readers add documents, the background takes them. A document that finds no room is left out; its
// next reader adds it again. Any thread.
#pragma once

#include <atomic>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/locked.h"
#include "db/types.h"

namespace sluice::db {

class AccessQueue {
 public:
  static constexpr size_t kMaxQueued = 1000;
  using Entries = std::set<std::pair<KeyspaceId, std::string>>;

  bool full() const { return size_.load(std::memory_order_relaxed) >= kMaxQueued; }

  void Add(KeyspaceId keyspace, std::string_view key) {
    const auto entries = entries_.Lock();
    if (entries->size() < kMaxQueued) entries->emplace(keyspace, key);
    size_.store(entries->size(), std::memory_order_relaxed);
  }

  Entries Take() {
    if (size_.load(std::memory_order_relaxed) == 0) return {};
    const auto entries = entries_.Lock();
    size_.store(0, std::memory_order_relaxed);
    return std::exchange(*entries, {});
  }

 private:
  std::atomic<size_t> size_ = 0;
  Locked<Entries> entries_;
};

}  // namespace sluice::db
