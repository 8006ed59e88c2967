// The memory that the bodies of all requests may take together. Any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sluice::http {

class BodyMemory {
 public:
  // A body up to this size is not counted, so that ordinary requests go on when large bodies have
  // taken all of it; there are no more of them than connections.
  static constexpr size_t kUncounted = 16 << 10;

  explicit BodyMemory(uint64_t most) : most_(most) {}

  uint64_t most() const { return most_; }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  bool TryTake(uint64_t bytes) {
    if (used_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= most_) return true;
    GiveBack(bytes);
    return false;
  }
  void GiveBack(uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const uint64_t most_;
  std::atomic<uint64_t> used_ = 0;
};

}  // namespace sluice::http
