// Two counts that a run and the reader of its rows exchange while both continue: the rows that the
// reader has acknowledged, and those whose events are durably consumed. With it a reader may pull
// rows before it has acknowledged earlier ones.
//
// Concurrency: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/mutex.h"

namespace sluice::query {

class Receipts {
 public:
  // `confirmed` is called by the run's threads, with the number of rows from the first one on.
  explicit Receipts(std::function<void(uint64_t rows)> confirmed)
      : confirmed_(std::move(confirmed)) {}

  // By the reader: the first `rows` rows have been dealt with. The number never gets less.
  void Acknowledge(uint64_t rows) {
    acknowledged_ = rows;
    const MutexLock lock(mutex_);
    if (wake_) wake_();
  }
  uint64_t acknowledged() const { return acknowledged_; }

  // By the run: called after every Acknowledge. When this returns, the one before is not called any
  // more.
  void SetWake(std::function<void()> wake) {
    const MutexLock lock(mutex_);
    wake_ = std::move(wake);
  }
  void Confirm(uint64_t rows) const { confirmed_(rows); }

 private:
  const std::function<void(uint64_t rows)> confirmed_;
  std::atomic<uint64_t> acknowledged_ = 0;
  Mutex mutex_;
  std::function<void()> wake_ GUARDED_BY(mutex_);
};

}  // namespace sluice::query
