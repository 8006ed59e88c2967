// How the handler of a request runs work that blocks: on the threads of a pool.
#pragma once

#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/pool.h"
#include "base/status.h"
#include "net/exchange.h"

namespace sluice::net {

// The error of a request whose job the pool did not take.
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
    if (exchange_.workers().Post([this, handle] { Run(handle); })) return true;
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
