// A follower whose events run one after the other, in the order of the log, in one shard: a
// trigger, or a flow that starts on changes.
//
// Operation: Step reads the changes behind the cursor, runs a batch of them and commits. If the
// follower leaves out all changes that it has read, it stores its place after kStoreInterval, so
// that the log need not keep them.
// Concurrency: one thread at a time, the caller's; Step waits for nothing but its commit. The
// caller waits between steps as Stepped says, and wakes when a commit changes the follower's
// keyspaces (commit_wake.h). To stop, it does not call Step again; that takes the time of one batch
// at most. Bounds: see LaneQueue and BatchRunner.
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

  // The queue, for callers that look at its head or pass it. Nothing in it counts as taken.
  Result<LaneQueue*> Queue();
  // Drops the queue. The next step reads from the stored cursor again.
  void Forget() { queue_.reset(); }

 private:
  Stepped Idle();
  Stepped From(const BatchRunner::Stepped& stepped) const;

  const BatchRunner::Parts parts_;
  const OpenQueue open_;
  BatchRunner runner_;
  std::unique_ptr<LaneQueue> queue_;     // null until it is needed
  std::optional<Clock::Time> store_at_;  // when to store the place, if there is no commit before
};

}  // namespace sluice::follow
