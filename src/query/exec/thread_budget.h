// The number of extra threads that all statements together may start. A statement that finds none
// left reads with its own thread only. Any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>

namespace sluice::query {

class ThreadBudget {
 public:
  // Threads that are given back when it ends.
  class Lease {
   public:
    Lease() = default;
    Lease(ThreadBudget* budget, size_t count) : budget_(budget), count_(count) {}
    Lease(Lease&& other) noexcept
        : budget_(other.budget_), count_(std::exchange(other.count_, 0)) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (count_ > 0) budget_->left_.fetch_add(count_, std::memory_order_relaxed);
    }
    size_t count() const { return count_; }

   private:
    ThreadBudget* budget_ = nullptr;
    size_t count_ = 0;
  };

  explicit ThreadBudget(size_t limit) : limit_(limit), left_(limit) {}

  // At most `wanted`, maybe none.
  Lease Take(size_t wanted) {
    size_t left = left_.load(std::memory_order_relaxed);
    size_t taken;
    do {
      taken = std::min(left, wanted);
    } while (!left_.compare_exchange_weak(left, left - taken, std::memory_order_relaxed));
    return {this, taken};
  }
  size_t limit() const { return limit_; }
  size_t left() const { return left_.load(std::memory_order_relaxed); }

 private:
  const size_t limit_;
  std::atomic<size_t> left_;
};

}  // namespace sluice::query
