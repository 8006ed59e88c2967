// Threads for work that blocks, behind a bounded queue.
#pragma once

#include <condition_variable>
#include <coroutine>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/thread.h"
#include "net/exchange.h"

namespace sluice::net {

// Any thread. Finishes what is queued before its destructor returns.
class WorkerPool {
 public:
  // `kind` names its threads (base/thread.h).
  WorkerPool(std::string_view kind, size_t threads, size_t max_queued);
  ~WorkerPool();

  // False, and nothing taken, when the queue is full.
  bool TrySubmit(std::move_only_function<void()> job);

  // Called by a job that takes long: another one may run beside the usual number until GiveBack, on
  // a thread that is added when there is none. As many threads stay as were ever needed.
  void Lend();
  void GiveBack();

 private:
  void Run();
  bool ShouldWake();  // needs mutex_; whoever is told so notifies
  bool MayTake() const { return !queue_.empty() && active_ < most_active_; }  // needs mutex_
  void AddThread();                                                           // needs mutex_

  const std::string_view kind_;
  const size_t max_queued_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::move_only_function<void()>> queue_;  // guarded by mutex_
  bool stopping_ = false;                              // guarded by mutex_
  // Threads that wait, and whether one of them was told of a job and is on its way. It tells the
  // next one if there are more jobs: to wake a thread costs as much as a short job.
  size_t idle_ = 0;              // guarded by mutex_
  bool waking_ = false;          // guarded by mutex_
  size_t active_ = 0;            // jobs that run; guarded by mutex_
  size_t most_active_;           // guarded by mutex_
  std::vector<Thread> threads_;  // guarded by mutex_ until it stops
};

Status OverloadedError();

// co_await RunBlocking(exchange, [&] { return db.Slow(); })
//
// Runs a function on the worker pool and gives Result<R> (Status for a function without a result),
// back on the connection's thread. http.overloaded when the queue is full. It is not cut short when
// the client leaves, so the function may refer to the handler's locals.
template <typename F>
class RunBlocking {
 public:
  using Value = std::invoke_result_t<F&>;
  static constexpr bool kVoid = std::is_void_v<Value>;
  using Stored = std::conditional_t<kVoid, bool, Value>;

  RunBlocking(Exchange& exchange, F function)
      : exchange_(exchange), function_(std::move(function)) {}

  bool await_ready() const { return false; }
  bool await_suspend(std::coroutine_handle<> handle) {
    exchange_.Suspend(nullptr);
    if (exchange_.workers().TrySubmit([this, handle] { Run(handle); })) return true;
    exchange_.Unsuspend();
    return false;
  }
  std::conditional_t<kVoid, Status, Result<Value>> await_resume() {
    if (exception_) std::rethrow_exception(exception_);
    if constexpr (kVoid) {
      return value_ ? OkStatus() : OverloadedError();
    } else {
      if (!value_) return Unexpected(OverloadedError());
      return std::move(*value_);
    }
  }

 private:
  void Run(std::coroutine_handle<> handle) {
    const std::shared_ptr<Loop> loop = exchange_.loop();
    try {
      if constexpr (kVoid) {
        function_();
        value_ = true;
      } else {
        value_.emplace(function_());
      }
    } catch (...) {
      exception_ = std::current_exception();
    }
    loop->Post([exchange = &exchange_, handle] { exchange->Resume(handle); });
  }

  Exchange& exchange_;
  F function_;
  std::optional<Stored> value_;
  std::exception_ptr exception_;
};

}  // namespace sluice::net
