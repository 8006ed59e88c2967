// Wakes the handler of a request when something was committed.
//
//   signal.Clear();
//   ... look for news; when there are none:
//   Status woken = co_await signal.Wait(exchange);
//
// A commit between Clear and Wait ends the wait at once, so none is missed. Clear and Wait are
// called on the exchange's thread; commits come from any.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "base/locked.h"
#include "db/database.h"
#include "follow/commit_wake.h"
#include "net/completion.h"
#include "net/task.h"

namespace sluice::service {

class CommitSignal {
 public:
  // Of all shards.
  explicit CommitSignal(db::Database& database)
      : state_(std::make_shared<Locked<State>>()),
        commits_(database),
        subscription_(
            commits_.SubscribeToAll([state = state_](const db::Committed&) { Raise(*state); })) {}

  void Clear() { state_->Lock()->raised = false; }

  // An error when the client has left.
  net::Task<Status> Wait(net::Exchange& exchange) {
    net::Completion<bool> woken(exchange);
    {
      const auto state = state_->Lock();
      if (state->raised) co_return OkStatus();
      state->waiting = woken;
    }
    const Result<bool> result = co_await woken;
    co_return result ? OkStatus() : result.error();
  }

 private:
  struct State {
    bool raised = false;
    std::optional<net::Completion<bool>> waiting;
  };

  static void Raise(Locked<State>& shared) {
    std::optional<net::Completion<bool>> woken;
    {
      const auto state = shared.Lock();
      state->raised = true;
      woken = std::exchange(state->waiting, std::nullopt);
    }
    if (woken) woken->Complete(true);
  }

  std::shared_ptr<Locked<State>> state_;
  follow::CommitWake commits_;
  follow::CommitWake::Subscription subscription_;
};

}  // namespace sluice::service
