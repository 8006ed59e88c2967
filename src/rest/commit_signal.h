// Wakes a handler when something was committed.
//
//   signal.Clear();
//   ... look at what is there; when there is nothing new:
//   Status woken = co_await signal.Wait(request);
//
// A commit between Clear and Wait ends the wait at once, so none is missed. Clear and Wait are
// called on the connection's thread; commits come from any.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "db/database.h"
#include "follow/commit_wake.h"
#include "rest/http_types.h"

namespace sluice::rest {

class CommitSignal {
 public:
  // All shards'.
  explicit CommitSignal(db::Database& database)
      : state_(std::make_shared<State>()),
        commits_(database),
        subscription_(
            commits_.SubscribeToAll([state = state_](const db::Committed&) { state->Raise(); })) {}

  void Clear() {
    const std::lock_guard lock(state_->mutex);
    state_->raised = false;
  }

  // http.cancelled when the client has left.
  Task<Status> Wait(Request& request) {
    Completion<bool> woken(request.exchange());
    {
      const std::lock_guard lock(state_->mutex);
      if (state_->raised) co_return OkStatus();
      state_->waiting = woken;
    }
    const Result<bool> result = co_await woken;
    co_return result ? OkStatus() : result.error();
  }

 private:
  struct State {
    void Raise() {
      std::optional<Completion<bool>> woken;
      {
        const std::lock_guard lock(mutex);
        raised = true;
        woken = std::exchange(waiting, std::nullopt);
      }
      if (woken) woken->Complete(true);
    }

    std::mutex mutex;
    bool raised = false;                      // guarded by mutex
    std::optional<Completion<bool>> waiting;  // guarded by mutex
  };

  std::shared_ptr<State> state_;
  follow::CommitWake commits_;
  follow::CommitWake::Subscription subscription_;
};

}  // namespace sluice::rest
