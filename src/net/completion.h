// Completion<T>: a handler waits for a value that another thread delivers.
//
//   Completion<CommitResult> done(exchange);
//   shard.Commit(std::move(commit), [done](CommitResult r) { done.Complete(std::move(r)); });
//   Result<CommitResult> result = co_await done;   // on the connection's thread again
//
// Copies share one state. Complete may be called from any thread, before or after the wait began,
// and more than once (the first counts), also after the server has gone. The wait ends with
// http.cancelled if the client leaves first. One waiter, once.
#pragma once

#include <atomic>
#include <coroutine>
#include <memory>
#include <optional>
#include <utility>

#include "base/status.h"
#include "net/exchange.h"

namespace sluice::net {

template <typename T>
class Completion {
 public:
  explicit Completion(Exchange& exchange) : state_(std::make_shared<State>(exchange)) {}

  void Complete(T value) const {
    State& state = *state_;
    if (state.claimed.exchange(true)) return;
    state.value.emplace(std::move(value));
    if (state.phase.exchange(Phase::kDone) != Phase::kWaiting) return;
    // The posted closure keeps the state, and the state the loop, so that the loop is still there
    // when Post returns although the request may be long over.
    const std::shared_ptr<Loop> loop = state.loop;
    loop->Post([keep = state_] { keep->exchange->Resume(keep->handle); });
  }

  auto operator co_await() const { return Awaiter{state_}; }

 private:
  // kEmpty -> kWaiting -> kDone | kCancelled, or kEmpty -> kDone. Only the loop's thread enters
  // kWaiting and kCancelled.
  enum class Phase : uint8_t { kEmpty, kWaiting, kDone, kCancelled };

  struct State final : Waiter {
    explicit State(Exchange& exchange) : exchange(&exchange), loop(exchange.loop()) {}

    void OnCancel() override {
      Phase expected = Phase::kWaiting;
      if (phase.compare_exchange_strong(expected, Phase::kCancelled)) exchange->Resume(handle);
    }

    std::atomic<bool> claimed = false;
    std::atomic<Phase> phase = Phase::kEmpty;
    std::optional<T> value;
    Exchange* exchange;
    std::shared_ptr<Loop> loop;
    std::coroutine_handle<> handle;
  };

  struct Awaiter {
    bool await_ready() const {
      return state->phase.load() == Phase::kDone || state->exchange->cancelled();
    }
    bool await_suspend(std::coroutine_handle<> handle) {
      state->handle = handle;
      if (!state->exchange->Suspend(state.get())) return false;
      Phase expected = Phase::kEmpty;
      if (state->phase.compare_exchange_strong(expected, Phase::kWaiting)) return true;
      state->exchange->Unsuspend();
      return false;
    }
    Result<T> await_resume() {
      if (state->phase.load() == Phase::kDone) return std::move(*state->value);
      return Unexpected(CancelledError());
    }
    std::shared_ptr<State> state;
  };

  std::shared_ptr<State> state_;
};

}  // namespace sluice::net
