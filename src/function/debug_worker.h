// Debugging of a function's events.
//
// Operation: the function's workers offer their events to a Trap. While a debugger is there, it
// takes one event at a time. A DebugWorker runs that event on a thread of its own, in an isolate of
// its own that has an inspector, and commits its effects as a worker does. Until then the lane of
// the event waits; the other lanes go on.
//
// The DebugWorker gives an event back to its worker, to be handled without a debugger, when the
// client leaves and when the debugger ends.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "base/locked.h"
#include "base/signal.h"
#include "base/thread.h"
#include "follow/lane_worker.h"
#include "follow/parallel_follower.h"
#include "function/function_processor.h"

namespace sluice::function {

// The place where workers leave the event that is to be debugged. Any thread.
class Trap final : public follow::Borrower {
 public:
  // Takes the event unless there is no debugger, it has an event already, or its client has left.
  bool Take(follow::EventPtr& event, follow::LaneWorker& from) override;

  // From now on events are taken for this debugger.
  void Open(std::shared_ptr<js::Inspector> inspector);
  // No event is taken from now on.
  void Close();

  bool has_event() const { return slot_.Lock()->event != nullptr; }
  // Whether an event of the shard was taken and not returned yet.
  bool HasEventOf(db::ShardId shard) const {
    const auto slot = slot_.Lock();
    return slot->from != nullptr && slot->shard == shard;
  }
  // The event that was taken; it stays the only one until Return. Null when there is none.
  follow::EventPtr Borrow() { return std::move(slot_.Lock()->event); }
  // Returns the borrowed event to its worker, to be handled there, or null when it was handled.
  void Return(follow::EventPtr event);

 private:
  struct Slot {
    std::shared_ptr<js::Inspector> inspector;  // null: there is no debugger
    follow::EventPtr event;                    // waits to be debugged
    follow::LaneWorker* from = nullptr;        // the worker of the event, from Take until Return
    db::ShardId shard = 0;                     // of the event, from Take until Return
  };
  std::atomic<bool> open_ = false;
  Locked<Slot> slot_;
};

class DebugWorker {
 public:
  // The context has the inspector, and the program for it. The others are those of the function's
  // workers, and outlive this.
  DebugWorker(ProcessorContext context, Trap& trap, follow::CommitSink& sink,
              const follow::ParallelFollower& follower);
  ~DebugWorker();  // closes the trap and the inspector and gives back the event that it has
  DebugWorker(const DebugWorker&) = delete;
  DebugWorker& operator=(const DebugWorker&) = delete;

 private:
  enum class Step : uint8_t { kWait, kRun, kGiveBack, kEnd };

  void Loop();
  Step Next();
  void Run();
  Status Process(const follow::EventPtr& event);
  void GiveBack();

  js::Inspector& inspector_;
  FunctionLog& function_log_;
  Trap& trap_;
  const follow::ParallelFollower& follower_;
  FunctionProcessor processor_;
  follow::BatchRunner runner_;
  Signal stop_;

  // The thread's.
  bool over_ = false;
  Clock::Time attended_;  // when a client was last connected
  Thread thread_;
};

}  // namespace sluice::function
