// Turns of statements. A short statement runs at once. Only a limited number of long statements run
// at the same time; the others pause in the middle of their work (Context::Tick). So short
// statements do not wait for long ones, and many long statements do not use memory and processors
// at the same time.
//
// Concurrency: any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/signal.h"

namespace sluice::query {

class LongTurns {
 public:
  // A statement that takes longer is a long one.
  static constexpr std::chrono::milliseconds kShort{100};

  LongTurns(size_t most, const Clock& clock) : most_(most), clock_(clock) {}

 private:
  friend class Turn;

  // False if `must_stop` returned true before there was room.
  bool Enter(const std::function<bool()>& must_stop);
  void Leave();

  const size_t most_;
  const Clock& clock_;
  std::atomic<size_t> running_ = 0;
  Signal left_;
};

// The turn of one statement.
class Turn {
 public:
  explicit Turn(LongTurns& turns) : turns_(turns) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // Call these around each part of a run. Between the parts the statement waits for its client and
  // takes no turn.
  void Begin();
  void End();
  // The threads of the run call this now and then. Waits while too many other long statements run,
  // unless `must_stop` returns true.
  void Check(const std::function<bool()>& must_stop);

 private:
  LongTurns& turns_;
  Mutex mutex_;  // one of its threads waits, the others wait for that
  std::atomic<bool> is_long_ = false;
  std::atomic<uint64_t> began_ns_ = 0;
};

}  // namespace sluice::query
