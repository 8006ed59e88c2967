// The handler of a route: a plain function if it never waits, a coroutine if it does.
//
//   .handler = [](Request& request, Response& response) { response.Text(200, "ok"); }
//   .handler = [&db](Request& request, Response& response) -> Task<> { ... co_await ... }
//
// A handler that seldom waits is a function that returns a task: an empty one when it has answered,
// otherwise a coroutine's.
//
// Both run on the connection's thread and must not block it. Work that blocks goes to the worker
// pool: Blocking(function), or RunBlocking inside a coroutine (net/run_blocking.h). A lambda's
// captures live as long as its router.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include "http/request.h"
#include "http/response.h"
#include "net/task.h"

namespace sluice::http {

using net::Task;

class Handler {
 public:
  using Plain = std::function<void(Request&, Response&)>;
  using Waiting = std::function<Task<>(Request&, Response&)>;

  Handler() = default;
  template <typename F>
  requires(!std::is_same_v<std::decay_t<F>, Handler> &&
           std::is_invocable_v<F&, Request&, Response&>)
      Handler(F function) {  // NOLINT(google-explicit-constructor)
    if constexpr (std::is_void_v<std::invoke_result_t<F&, Request&, Response&>>) {
      plain = std::move(function);
    } else {
      waiting = std::move(function);
    }
  }
  explicit operator bool() const { return plain || waiting; }

  Plain plain;  // exactly one of the two is set
  Waiting waiting;
};

// A handler that runs as a whole on the worker pool.
Handler Blocking(std::function<void(Request&, Response&)> function);

}  // namespace sluice::http
