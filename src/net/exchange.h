// The request that an awaitable runs for: it has the thread to resume on, and says when the client
// has left. Connections implement it; in HTTP it is request.exchange().
#pragma once

#include <coroutine>
#include <functional>
#include <memory>
#include <utility>

#include "base/status.h"

namespace sluice {
class Pool;
}

namespace sluice::net {

// One thread that runs connections. Any thread may call Post; posted functions run on the loop's
// thread, in order. After the loop has ended they are dropped.
class Loop {
 public:
  virtual ~Loop() = default;
  virtual void Post(std::move_only_function<void()> run) = 0;
  // On the loop's thread: runs code of users there after the current event. If the code takes long
  // or waits, the loop continues on another thread.
  virtual void Run(std::move_only_function<void()> job) = 0;
};

// A suspended awaitable that can be told to give up. Called on the loop's thread; it resumes its
// coroutine or, if its result is already on the way, does nothing.
class Waiter {
 public:
  virtual ~Waiter() = default;
  virtual void OnCancel() = 0;
};

// One request, of whatever protocol. Everything here runs on the connection's thread.
class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual const std::shared_ptr<Loop>& loop() const = 0;
  virtual Pool& workers() const = 0;

  // The client has gone or the server's drain time is over. Awaitables then return kCancelled
  // without waiting.
  bool cancelled() const { return cancelled_; }

  // An awaitable calls this before its coroutine suspends. Sends the chunks that the handler has
  // streamed so far. False: the exchange was cancelled, do not suspend. `waiter` is null for a wait
  // that can't be cut short.
  bool Suspend(Waiter* waiter) {
    OnSuspend();
    if (cancelled_ && waiter != nullptr) return false;
    waiter_ = waiter;
    return true;
  }
  // Takes Suspend back: the awaitable has its result already and does not suspend.
  void Unsuspend() { waiter_ = nullptr; }

  // Continues a suspended coroutine of this exchange and notices when the handler has finished.
  // The exchange may be gone when this returns.
  void Resume(std::coroutine_handle<> handle) {
    waiter_ = nullptr;
    handle.resume();
    OnResumed();
  }

 protected:
  // Wakes the handler's current wait, if it has one. The exchange may be gone when this returns.
  void Cancel() {
    if (std::exchange(cancelled_, true)) return;
    if (waiter_ != nullptr) waiter_->OnCancel();
  }
  void ResetExchange() {
    cancelled_ = false;
    waiter_ = nullptr;
  }

 private:
  virtual void OnSuspend() = 0;
  virtual void OnResumed() = 0;

  Waiter* waiter_ = nullptr;
  bool cancelled_ = false;
};

// The error that an awaitable returns when its exchange was cancelled.
Status CancelledError();

}  // namespace sluice::net
