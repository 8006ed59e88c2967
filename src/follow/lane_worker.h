// One of the workers of a ParallelFollower: a thread that takes the waiting events of its lanes,
// runs them in batches and commits the effects together with the lanes' cursors.
//
// Operation: the reader offers events of the log, others offer events of their own (timers). The
// worker takes them in the order in which they came. A Borrower may take the first event of a batch
// from it: then the lane of that event waits until the event is given back; the other lanes go on.
// Concurrency: any thread; the processor and the failure policy belong to the worker's thread.
// Bounds: kMostQueued events of the log and kMostQueuedBytes, and kMostOffered others, so that
// changes can't keep timers out. An event that finds no room is not taken.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/thread.h"
#include "follow/batch_runner.h"
#include "follow/cursors.h"
#include "follow/event.h"

namespace sluice::follow {

class LaneWorker;

// Takes events over from workers, one at a time; a debugger does.
class Borrower {
 public:
  virtual ~Borrower() = default;
  // True: it has moved the event out and calls LaneWorker::GiveBack later. Called on the worker's
  // thread under its lock, for the first event of each batch: cheap, and it must not call back.
  virtual bool Take(EventPtr& event, LaneWorker& from) = 0;
};

class LaneWorker {
 public:
  static constexpr size_t kMostQueued = 4096;
  static constexpr size_t kMostOffered = 1024;
  static constexpr size_t kMostQueuedBytes = 32ull << 20;

  // All outlive the worker.
  struct Parts {
    ThreadName name;
    Processor& processor;
    FailurePolicy& failures;
    CommitSink& sink;
    LaneCursors& cursors;
    Turns& turns;
    const Clock& clock;
    Borrower* borrower = nullptr;
    std::chrono::milliseconds rest_after{};  // the processor rests then; 0: never
    std::function<void()> drained;           // called when there is room for more
    // Called on the worker's thread, which then ends, when the worker can't go on.
    std::function<void(const Status&)> failed;
  };
  explicit LaneWorker(Parts parts);
  ~LaneWorker();  // Stop
  LaneWorker(const LaneWorker&) = delete;
  LaneWorker& operator=(const LaneWorker&) = delete;

  // False when there is no room: the event was not taken.
  bool Offer(EventPtr& event);
  bool idle() const;

  // Ends the current run and drops the waiting events. Does not wait.
  void RequestStop();
  // The same, and waits.
  void Stop();

  // The borrower has handled the event that it took (null), or gives it back to be handled here.
  // The later events of its lane go on.
  void GiveBack(EventPtr event);

 private:
  using Events = std::vector<EventPtr>;

  void Loop();
  Events Take();
  void TakeFront(Events* events) REQUIRES(mutex_);
  // False when the worker has to end.
  bool Process(const Events& events);
  void Pause(std::chrono::microseconds time);
  bool stopping() const { return stopping_.load(std::memory_order_relaxed); }

  const Parts parts_;
  BatchRunner runner_;
  std::atomic<bool> stopping_ = false;  // set under mutex_

  mutable Mutex mutex_;
  CondVar wake_;
  std::deque<EventPtr> queue_ GUARDED_BY(mutex_);
  std::optional<uint16_t> lent_lane_ GUARDED_BY(mutex_);  // of the event that the borrower has
  std::deque<EventPtr> aside_ GUARDED_BY(mutex_);         // later events of that lane
  size_t queued_bytes_ GUARDED_BY(mutex_) = 0;
  size_t offered_ GUARDED_BY(mutex_) = 0;  // queued events that are not of the log
  bool busy_ GUARDED_BY(mutex_) = false;
  Thread thread_;
};

}  // namespace sluice::follow
