// A follower whose events run side by side, in one shard: a function. Events of one lane (for
// example, of one key) run one after the other, in the order of the log.
//
// Operation: a thread reads the log once and gives the events to the workers, by lane. Each lane
// has a cursor of its own, so the number of workers can change from one start to the next. When all
// workers are idle, lanes that heard nothing follow the others, every kStoreInterval at most, so
// that they do not hold the log.
// Concurrency: any thread, except WakeFor and Stop, which one thread at a time may call. Start and
// Stop are this shard's alone; Stop returns when no event runs any more, within the time that the
// processor takes to end a run and its commit.
// Bounds: those of LaneWorker. The reader waits for room in a worker's queue, so that a slow
// follower holds no more in memory than its queues.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/signal.h"
#include "base/thread.h"
#include "follow/commit_wake.h"
#include "follow/cursors.h"
#include "follow/lane_worker.h"
#include "follow/source.h"

namespace sluice::follow {

class ParallelFollower {
 public:
  static constexpr size_t kReadAtOnce = 1024;
  static constexpr std::chrono::seconds kStoreInterval{1};

  // The code of one worker.
  struct Code {
    Processor& processor;
    FailurePolicy& failures;
  };
  // All that is referred to outlives the follower.
  struct Options {
    std::unique_ptr<Source> source;
    CommitSink& sink;
    uint16_t lanes = 1;
    // Stored cursors depend on it: the same change has the same lane for ever.
    std::function<uint16_t(const db::Change& change)> lane_of;
    MakeEvent make_event;
    std::vector<Code> workers;
    ThreadName reader_name;
    ThreadName worker_name;
    // Called once, on a thread that must not wait for this object, when the follower can't go on.
    std::function<void(const Status&)> failed;
    // Called on the reader's thread each time the follower has caught up; may be empty.
    std::function<void()> handled_all;
    Borrower* borrower = nullptr;
    std::chrono::milliseconds rest_after{};  // of an idle worker; 0: never
    const Clock& clock = MachineClock();
  };
  // Error cursor.not_found when there is no such follower.
  static Result<std::unique_ptr<ParallelFollower>> Start(Options options);
  ~ParallelFollower();  // Stop
  ParallelFollower(const ParallelFollower&) = delete;
  ParallelFollower& operator=(const ParallelFollower&) = delete;

  // From now on commits to these keyspaces wake it, and to no others.
  void WakeFor(std::span<const db::KeyspaceId> keyspaces, CommitWake& commits);
  void Wake() { signal_.Wake(); }
  // Gives an event that is not from the log to the worker of its lane. False when that has no room:
  // the event was not taken.
  bool Offer(EventPtr& event) { return WorkerOf(event->lane).Offer(event); }

  // Ends the current runs. Does not wait.
  void RequestStop();
  void Stop();
  // Whether all commits so far are handled and nothing runs.
  bool caught_up() const;

  // For the borrower, while it has an event of the lane.
  LaneCursors& cursors() { return cursors_; }

 private:
  ParallelFollower(Options options, LaneCursors cursors);
  void Loop();
  Status Pump();
  bool Deliver(EventPtr event);
  Status StorePlaces();
  void Fail(const Status& status);
  LaneWorker& WorkerOf(uint16_t lane) { return *workers_[lane % workers_.size()]; }
  bool WorkersIdle() const;

  const Options options_;
  Signal signal_;  // closed when it has to end
  CommitWake::Subscription subscription_;
  LaneCursors cursors_;
  Turns turns_;
  std::vector<std::unique_ptr<LaneWorker>> workers_;
  std::atomic<bool> failed_ = false;
  // The count of wakes up to which everything is handled.
  static constexpr uint64_t kNotCaughtUp = UINT64_MAX;
  std::atomic<uint64_t> caught_up_with_ = kNotCaughtUp;

  // State of the reader.
  std::vector<db::CursorState> given_;  // to workers, by lane
  Clock::Time stored_at_;
  bool places_stored_ = false;  // idle lanes are where the reader is, also on disk
  Thread thread_;
};

}  // namespace sluice::follow
