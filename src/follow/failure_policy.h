// Decides about an event that can't be handled. Each kind of follower has its own policy:
//
//   functions     the event is kept as a failure, in the commit that passes it; the function's
//                 settings say whether it is tried again. (function/function_processor.h)
//   triggers      the event is tried again without end, after growing pauses. Nothing passes it.
//                 (GrowingPauses)
//   flow starts   the event is tried again without end, after the same pause each time.
//
// A conflict goes to the policy only after BatchRunner::kMostConflicts in a row.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/random.h"
#include "base/status.h"

namespace sluice::follow {

enum class Trouble : uint8_t {
  kFailed,    // the run of the event failed
  kRefused,   // the commit of the event alone was refused because of its writes
  kDatabase,  // the database can't commit: it has no room, its disk fails, it closes
};

struct Verdict {
  enum class Next : uint8_t { kAgain, kEnd };
  Next next = Next::kAgain;
  std::chrono::milliseconds pause{0};  // before the next try

  static Verdict Again(std::chrono::milliseconds pause) { return {Next::kAgain, pause}; }
  // The follower ends with the status of the trouble.
  static Verdict End() { return {Next::kEnd, {}}; }
};

// The thread that runs the events.
class FailurePolicy {
 public:
  virtual ~FailurePolicy() = default;
  virtual Verdict OnTrouble(Trouble trouble, const Status& status) = 0;
  // The event at the head was handled.
  virtual void OnPassed() {}
};

// How long to wait before the next try of an event that fails: twice as long each time, up to
// kLongest, less up to a quarter by chance.
class GrowingPauses {
 public:
  static constexpr std::chrono::milliseconds kFirst{50};
  static constexpr std::chrono::milliseconds kLongest{30'000};

  explicit GrowingPauses(uint64_t seed) : random_(seed) {}

  uint32_t attempts() const { return attempts_; }
  std::chrono::milliseconds Next();
  void Reset() { attempts_ = 0; }

 private:
  Random random_;
  uint32_t attempts_ = 0;
};

}  // namespace sluice::follow
