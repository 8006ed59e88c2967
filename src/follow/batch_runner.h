// Runs a follower's events in batches and commits each batch with the moves of its cursors. An
// event takes effect once, because its writes and its cursor's move are one commit.
//
// Operation: a batch has the events that wait now; the runner does not wait for more. It ends when
// the processor is full or asks for the end, and after kLongestBatch, so that the effects of slow
// runs do not wait for later runs. After a batch whose runs took longer than kSlowRun each, events
// run alone. A run that fails is undone; the events before it are committed, and the failure policy
// decides about it. A refused commit has no effect, and its events run again:
//
//   conflict    after the pause of db::ConflictRetry. Several workers of a follower first take
//               turns; if that does not help, half as many events run together.
//   too large   half as many events at once, without a pause.
//   database    it can't commit: the failure policy says how long to wait.
//   otherwise   an event that is refused alone is a failure, see failure_policy.h.
//
// If a cursor is not where it was, another process or thread has the follower, and the runner ends.
//
// Concurrency: one thread at a time.
// Bounds: kMostAtOnce events in a batch. After kMostConflicts in a row, an event alone counts as
// refused.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>

#include "base/clock.h"
#include "base/status.h"
#include "db/conflict_retry.h"
#include "follow/cursors.h"
#include "follow/event.h"
#include "follow/failure_policy.h"
#include "follow/processor.h"
#include "follow/source.h"
#include "follow/turns.h"

namespace sluice::follow {

class BatchRunner {
 public:
  static constexpr size_t kMostAtOnce = 512;
  static constexpr std::chrono::milliseconds kLongestBatch{20};
  static constexpr std::chrono::milliseconds kSlowRun{2};
  // Ten times the usual attempts: a follower has no caller that could try again.
  static constexpr int kMostConflicts = 10 * db::ConflictRetry::kMostAttempts;

  // All outlive the runner.
  struct Parts {
    Processor& processor;
    FailurePolicy& failures;
    CommitSink& sink;
    const Clock& clock;
    std::function<bool()> stopping;
    Turns* turns = nullptr;  // that it shares with other runners of the follower
  };
  explicit BatchRunner(Parts parts) : parts_(std::move(parts)) {}

  struct Stepped {
    size_t done = 0;                    // number of handled events, from the front
    std::chrono::microseconds pause{};  // before the next step
    bool ended = false;
    Status why;  // of the end; OK when it was asked to stop
  };
  // Runs one batch from the front of `events`, of which there must be one.
  Stepped Step(std::span<const EventPtr> events, Cursors& cursors);
  // Decides about a failure outside of a batch.
  Stepped Troubled(Trouble trouble, const Status& status);

  // The most events of the next batch.
  size_t most_at_once() const { return most_at_once_; }

 private:
  struct Batch {
    size_t done = 0;
    Status failed;  // of the event after those
    bool slow = false;
  };
  Batch Run(std::span<const EventPtr> events);
  Status Commit(std::span<const EventPtr> events, Cursors& cursors);
  Stepped Refused(const Status& status, size_t events, bool alone);

  const Parts parts_;
  size_t most_at_once_ = 1;
  int conflicts_ = 0;  // in a row
};

}  // namespace sluice::follow
