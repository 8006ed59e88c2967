// The worker that a debugger brings: it takes one event at a time out of the hands of the others
// and runs it in an isolate of its own, with an inspector, on a thread of its own. The event takes
// effect as every other does. Until it is done with, the lane that it came from is held; the other
// lanes go on.
//
// An event is given back, to be handled without a debugger, when the client leaves and when the
// debugger ends.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "function/worker.h"

namespace sluice::function {

class DebugWorker final : public Worker {
 public:
  // The context has the inspector, and the program for it.
  explicit DebugWorker(WorkerContext context);
  ~DebugWorker() override;  // End

  // Takes the event unless it has one already, or its client has left. Any thread.
  bool Take(Event& event, Worker& from);
  // Closes the inspector and gives back what it has.
  void End();

 private:
  enum class Step : uint8_t { kWait, kRun, kGiveBack, kEnd };

  void Loop();
  Step Next();
  void Run();
  void GiveBack();

  bool over_ = false;                               // guarded by mutex_
  std::optional<Event> event_;                      // guarded by mutex_; unchanged while it runs
  Worker* from_ = nullptr;                          // guarded by mutex_
  std::chrono::steady_clock::time_point attended_;  // guarded by mutex_; when a client was there
};

// Where a function's workers ask whether an event is to be debugged. Any thread.
class Trap {
 public:
  bool Take(Event& event, Worker& from) {
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
