// Turns of statements. A short one runs at once; of those that take long only some run at the same
// time, and the others wait in the middle of what they do (Context::Tick). So neither can short
// ones be kept waiting nor do many long ones take memory and processors together.
//
// Concurrency: any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

#include "base/clock.h"

namespace sluice::query {

class LongTurns {
 public:
  // What tells whoever gave a statement its thread that this one is kept for long, and that it is
  // free again.
  struct Lender {
    std::function<void()> lend;
    std::function<void()> give_back;
  };
  LongTurns(size_t most, Lender lender, const Clock& clock)
      : most_(most), lender_(std::move(lender)), clock_(clock) {}

 private:
  friend class Turn;

  const size_t most_;
  const Lender lender_;
  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable free_;
  size_t running_ = 0;  // guarded by mutex_
};

// The turn of one statement.
class Turn {
 public:
  explicit Turn(LongTurns& turns) : turns_(turns) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // Around each part of a run: between them it waits for its client and holds up nobody.
  void Begin();
  void End();
  // To be called by the threads of the run now and then. Waits while too many others run for long,
  // unless `must_stop` says that this one is to end.
  void Check(const std::function<bool()>& must_stop);

 private:
  LongTurns& turns_;
  std::mutex mutex_;   // one of its threads waits, the others wait for that
  bool lent_ = false;  // guarded by mutex_
  std::atomic<bool> is_long_ = false;
  std::atomic<uint64_t> began_ns_ = 0;
};

}  // namespace sluice::query
