// The worker that a debugger brings: it borrows one event at a time from the function's workers and
// runs it in an isolate of its own, with an inspector, on a thread of its own. The event takes
// effect as every other does. Until it is done with, the lane that it came from waits; the other
// lanes go on.
//
// An event is given back, to be handled without a debugger, when the client leaves and when the
// debugger ends.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>

#include "base/thread.h"
#include "follow/lane_worker.h"
#include "function/function_processor.h"

namespace sluice::function {

class DebugWorker {
 public:
  // The context has the inspector, and the program for it. The others are those of the function's
  // workers, and outlive this.
  DebugWorker(ProcessorContext context, follow::CommitSink& sink, follow::LaneCursors& cursors);
  ~DebugWorker();  // closes the inspector and gives back what it has
  DebugWorker(const DebugWorker&) = delete;
  DebugWorker& operator=(const DebugWorker&) = delete;

  // Takes the event unless it has one already, or its client has left. Any thread.
  bool Take(follow::EventPtr& event, follow::LaneWorker& from);

 private:
  enum class Step : uint8_t { kWait, kRun, kGiveBack, kEnd };

  void Loop();
  Step Next();
  void Run();
  Status Process();
  void GiveBack();

  js::Inspector& inspector_;
  FunctionLog& function_log_;
  follow::LaneCursors& cursors_;
  FunctionProcessor processor_;
  follow::BatchRunner runner_;

  std::mutex mutex_;
  bool over_ = false;                               // guarded by mutex_
  follow::EventPtr event_;                          // guarded by mutex_; unchanged while it runs
  follow::LaneWorker* from_ = nullptr;              // guarded by mutex_
  std::chrono::steady_clock::time_point attended_;  // guarded by mutex_; when a client was there
  Thread thread_;
};

// Where a function's workers ask whether an event is to be debugged. Any thread.
class Trap final : public follow::Borrower {
 public:
  bool Take(follow::EventPtr& event, follow::LaneWorker& from) override {
    if (!set_.load(std::memory_order_relaxed)) return false;
    const std::lock_guard lock(mutex_);
    return worker_ != nullptr && worker_->Take(event, from);
  }
  // Null for none. After that the one before is not used any more.
  void Set(DebugWorker* worker) {
    const std::lock_guard lock(mutex_);
    worker_ = worker;
    set_ = worker != nullptr;
  }

 private:
  std::atomic<bool> set_ = false;
  std::mutex mutex_;
  DebugWorker* worker_ = nullptr;  // guarded by mutex_
};

}  // namespace sluice::function
