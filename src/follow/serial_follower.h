// A follower whose events run one after the other, in the order of the log, in one shard: a
// trigger, a flow that starts on changes.
//
// Operation: Step reads what has piled up behind the cursor, runs a batch of it and commits. When
// there is nothing to run but changes that the follower leaves out, it stores its place
// kStoreInterval later, so that it does not hold the log for them.
// Concurrency: one thread at a time, the caller's; Step waits for nothing but its commit. The
// caller waits between steps as Stepped says, and wakes when a commit changes the follower's
// keyspaces (commit_wake.h). It stops by not calling Step again, so that a shard can be taken away
// within the time of one batch. Bounds: those of LaneQueue and BatchRunner.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/status.h"
#include "follow/batch_runner.h"
#include "follow/lane_queue.h"

namespace sluice::follow {

class SerialFollower {
 public:
  static constexpr std::chrono::seconds kStoreInterval{1};

  // Opens the queue at the stored cursor.
  using OpenQueue = std::function<Result<std::unique_ptr<LaneQueue>>()>;
  SerialFollower(BatchRunner::Parts parts, OpenQueue open)
      : parts_(parts), open_(std::move(open)), runner_(parts) {}

  struct Stepped {
    enum class State : uint8_t {
      kWorked,  // there may be more: step again
      kIdle,    // nothing to do until a commit wakes it
      kPaused,  // something went wrong: again at `until`, whatever is committed
      kEnded,   // it can't go on, or was asked to stop
    };
    State state = State::kWorked;
    std::optional<Clock::Time> until = std::nullopt;  // when to step again at the latest
    Status why = OkStatus();                          // of an end; OK when it was asked to stop
  };
  Stepped Step();

  // Its queue, for those who look at the head or pass it; nothing of it counts as taken.
  Result<LaneQueue*> Queue();
  // What was read is read again from the stored cursor, through a new queue.
  void Forget() { queue_.reset(); }

 private:
  Stepped Idle();
  Stepped From(const BatchRunner::Stepped& stepped) const;

  const BatchRunner::Parts parts_;
  const OpenQueue open_;
  BatchRunner runner_;
  std::unique_ptr<LaneQueue> queue_;     // null until it is needed
  std::optional<Clock::Time> store_at_;  // its place, if nothing happens before
};

}  // namespace sluice::follow
