#include "follow/serial_follower.h"

#include <utility>

namespace sluice::follow {

Result<LaneQueue*> SerialFollower::Queue() {
  if (queue_ == nullptr) {
    ASSIGN_OR_RETURN(queue_, open_());
  }
  queue_->Rewind();
  return queue_.get();
}

SerialFollower::Stepped SerialFollower::Step() {
  const Result<LaneQueue*> queue = Queue();
  if (!queue) return From(runner_.Troubled(Trouble::kFailed, queue.error()));
  const auto events = (*queue)->Peek(runner_.most_at_once());
  if (!events) return From(runner_.Troubled(Trouble::kFailed, events.error()));
  if (events->empty()) return Idle();
  store_at_.reset();
  return From(runner_.Step(*events, **queue));
}

SerialFollower::Stepped SerialFollower::From(const BatchRunner::Stepped& stepped) const {
  using State = Stepped::State;
  if (stepped.ended) return {.state = State::kEnded, .why = stepped.why};
  if (stepped.pause.count() == 0) return {.state = State::kWorked};
  return {.state = State::kPaused, .until = parts_.clock.Now() + stepped.pause};
}

SerialFollower::Stepped SerialFollower::Idle() {
  using State = Stepped::State;
  if (!queue_->HasMove()) {
    store_at_.reset();
    return {.state = State::kIdle};
  }
  const Clock::Time now = parts_.clock.Now();
  if (!store_at_) store_at_ = now + kStoreInterval;
  if (now < *store_at_) return {.state = State::kIdle, .until = store_at_};
  db::Commit commit;
  commit.shard = queue_->shard();
  commit.cursor_moves.push_back(queue_->Move());
  const Status stored = parts_.sink.Apply(std::move(commit));
  if (stored.id().starts_with("cursor.")) return {.state = State::kEnded, .why = stored};
  store_at_.reset();
  if (!stored.ok()) return {.state = State::kIdle, .until = now + kStoreInterval};
  queue_->Committed();
  return {.state = State::kIdle};
}

}  // namespace sluice::follow
