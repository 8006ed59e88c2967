// One of the workers of a ParallelFollower: a thread that takes the waiting events of its lanes,
// runs them in batches and commits the effects together with the lanes' cursors.
//
// Operation: the reader offers events of the log, others offer events of their own (timers). The
// worker takes the events of one shard at a time, in the order in which they came; the shards have
// their turns. A Borrower may take the first event of a batch from it: then the lane of that event
// waits until the event is given back; the other lanes go on.
// Concurrency: any thread; the processor and the failure policy belong to the worker's thread.
// Bounds: kMostQueued events of the log and kMostQueuedBytes, and kMostOffered others, so that
// changes can't keep timers out. An event that finds no room is not taken.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
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
    Turns& turns;
    const Clock& clock;
    Borrower* borrower = nullptr;
    std::chrono::milliseconds rest_after{};  // the processor rests then; 0: never
    std::function<void()> drained;           // called when there is room for more
    // Called on the worker's thread when it can't go on in a shard. It takes no more of its events.
    std::function<void(db::ShardId shard, const Status& status)> failed;
  };
  explicit LaneWorker(Parts parts);
  ~LaneWorker();  // Stop
  LaneWorker(const LaneWorker&) = delete;
  LaneWorker& operator=(const LaneWorker&) = delete;

  // Takes the shard's events from now on. The cursors are used until Leave returns.
  void Enter(db::ShardId shard, LaneCursors& cursors);
  // Ends the current run if it is of the shard, drops the waiting events of the shard and takes no
  // more. Does not wait.
  void RequestLeave(db::ShardId shard);
  // The same, and waits, also for the borrower if it has an event of the shard.
  void Leave(db::ShardId shard);

  // False when there is no room, or the worker is not in the event's shard: the event was not
  // taken.
  bool Offer(EventPtr& event);
  // Whether all events that it was given were handled.
  bool idle() const;
  bool idle(db::ShardId shard) const;

  // Ends the current run and drops the waiting events. Does not wait.
  void RequestStop();
  // The same, and waits.
  void Stop();

  // The borrower has handled the event that it took (null), or gives it back to be handled here.
  // The later events of its lane go on.
  void GiveBack(EventPtr event);

 private:
  using Events = std::vector<EventPtr>;

  // Its work in one shard.
  struct Shard {
    Shard(db::ShardId shard, LaneCursors& cursors, BatchRunner::Parts parts)
        : id(shard), cursors(cursors), runner(std::move(parts)) {}

    const db::ShardId id;
    LaneCursors& cursors;        // the thread's while the worker has events of the shard
    BatchRunner runner;          // the thread's
    std::deque<EventPtr> queue;  // under mutex_
    bool closed = false;         // it takes no more events; under mutex_
  };
  struct Batch {
    Shard* shard = nullptr;  // null when it is time to end
    Events events;
  };
  // The event that the borrower has.
  struct Lent {
    db::ShardId shard = 0;
    uint16_t lane = 0;
    bool operator==(const Lent&) const = default;
  };

  void Loop();
  Batch Take();
  Shard* NextShard() REQUIRES(mutex_);
  void TakeFront(Shard& shard, Events* events) REQUIRES(mutex_);
  void Process(const Batch& batch);
  void Finish();
  void Pause(std::chrono::microseconds time);
  bool IdleIn(const Shard& shard) const REQUIRES(mutex_);
  // Moves out the waiting events of a shard that takes no more.
  Events Close(Shard& shard) REQUIRES(mutex_);
  void Drop(std::deque<EventPtr>& queue, Events* dropped) REQUIRES(mutex_);
  void LetGo(const Events& dropped);
  // Whether the batch that runs is to end.
  bool stopping() const {
    return stopping_.load(std::memory_order_relaxed) || leaving_.load(std::memory_order_relaxed);
  }

  const Parts parts_;
  std::atomic<bool> stopping_ = false;  // set under mutex_
  // The shard of the batch that runs is being left. Changed under mutex_.
  std::atomic<bool> leaving_ = false;

  mutable Mutex mutex_;
  CondVar wake_;
  CondVar left_;  // a batch is over, or a lent event is back
  std::map<db::ShardId, std::unique_ptr<Shard>> shards_ GUARDED_BY(mutex_);
  std::optional<db::ShardId> busy_ GUARDED_BY(mutex_);  // the shard of the batch that runs
  db::ShardId last_ GUARDED_BY(mutex_) = 0;             // the shard of the last batch
  std::optional<Lent> lent_ GUARDED_BY(mutex_);
  std::deque<EventPtr> aside_ GUARDED_BY(mutex_);  // later events of the lent event's lane
  // Of all shards, and of aside_.
  size_t queued_ GUARDED_BY(mutex_) = 0;
  size_t queued_bytes_ GUARDED_BY(mutex_) = 0;
  size_t offered_ GUARDED_BY(mutex_) = 0;  // queued events that are not of the log
  Thread thread_;
};

}  // namespace sluice::follow
