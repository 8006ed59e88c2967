// Two counts that a run and the reader of its rows exchange while both continue: the rows that the
// reader has acknowledged, and those whose events are durably consumed. With it a reader may pull
// rows before it has acknowledged earlier ones.
//
// Concurrency: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "base/locked.h"

namespace sluice::query {

class Receipts {
 public:
  using Wake = std::shared_ptr<const std::function<void()>>;

  // `confirmed` is called by the run's threads, with the number of rows from the first one on.
  explicit Receipts(std::function<void(uint64_t rows)> confirmed)
      : confirmed_(std::move(confirmed)) {}

  // By the reader: the first `rows` rows have been dealt with. The number never gets less.
  void Acknowledge(uint64_t rows) {
    acknowledged_ = rows;
    if (const Wake wake = wake_.Copy()) (*wake)();
  }
  uint64_t acknowledged() const { return acknowledged_; }

  // By the run: `wake` is called after every Acknowledge; null for no more. A call that is under
  // way may end later, so `wake` keeps alive whatever it needs.
  void SetWake(Wake wake) { wake_.Set(std::move(wake)); }
  void Confirm(uint64_t rows) const { confirmed_(rows); }

 private:
  const std::function<void(uint64_t rows)> confirmed_;
  std::atomic<uint64_t> acknowledged_ = 0;
  Locked<Wake> wake_;
};

}  // namespace sluice::query
