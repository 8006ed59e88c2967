#include "procedure/trigger/event_queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace sluice::procedure {
namespace {

Status ConsumerShardLost(db::ShardId shard) {
  return Error(Code::kConflict, "consumer.shard_lost",
               "this server does not own shard {} any more: its events were not consumed here, and "
               "come again",
               shard);
}

}  // namespace

EventQueue::EventQueue(query::QueryEngine& engine, std::shared_ptr<LiveQueue> live)
    : engine_(engine),
      live_(std::move(live)),
      definition_(live_->definition()),
      shards_(ShardsOf(*definition_, engine_.database().shard_count())) {}

EventQueue::Lane* EventQueue::Find(db::ShardId shard) {
  const auto found = lanes_.find(shard);
  return found == lanes_.end() ? nullptr : &found->second;
}

Result<EventQueue::Lane*> EventQueue::LaneOf(const follow::ShardGate::Pass& pass) {
  Lane& lane = lanes_[pass.shard()];
  if (lane.tenure == pass.tenure() && lane.events != nullptr) return &lane;
  ASSIGN_OR_RETURN(lane.events, OpenShardQueue(engine_, definition_, pass.shard()));
  lane.tenure = pass.tenure();
  return &lane;
}

Result<const TriggerEvent*> EventQueue::NextIn(db::ShardId shard) {
  const auto pass = live_->gate().Enter(shard);
  if (staying_) {
    const Lane* const lane = Find(shard);
    const bool same = pass && lane != nullptr && lane->tenure == pass->tenure();
    if (!same) return Unexpected(ConsumerShardLost(shard));
  }
  if (!pass) {
    lanes_.erase(shard);
    return nullptr;
  }
  ASSIGN_OR_RETURN(Lane* const lane, LaneOf(*pass));
  return NextEvent(*lane->events);
}

Result<const TriggerEvent*> EventQueue::Next() {
  if (staying_) return NextIn(shard());
  for (size_t i = 0; i < shards_.size(); ++i) {
    const size_t turn = (turn_ + i) % shards_.size();
    ASSIGN_OR_RETURN(const TriggerEvent* const event, NextIn(shards_[turn]));
    if (event == nullptr) continue;
    turn_ = turn;
    return event;
  }
  return nullptr;
}

void EventQueue::Take() {
  Lane* const lane = Find(shard());
  CHECK(lane != nullptr);
  lane->events->Take();
  staying_ = true;
}

size_t EventQueue::taken() const {
  const auto lane = lanes_.find(shard());
  return staying_ && lane != lanes_.end() ? lane->second.events->taken() : 0;
}

void EventQueue::Rewind() {
  for (auto& [shard, lane] : lanes_) {
    if (lane.events != nullptr) lane.events->Rewind();
  }
  staying_ = false;
}

void EventQueue::EndTurn() {
  staying_ = false;
  turn_ = (turn_ + 1) % shards_.size();
}

EventQueue::Origin EventQueue::origin() const {
  const auto lane = lanes_.find(shard());
  CHECK(lane != lanes_.end());
  return {shard(), lane->second.tenure};
}

Status EventQueue::Commit(db::Commit commit) {
  if (!staying_) {
    if (commit.writes.empty()) return OkStatus();
    return engine_.database().Apply(std::move(commit)).status;
  }
  const db::ShardId home = shard();
  const auto pass = live_->gate().Enter(home);
  Lane* const lane = Find(home);
  Status status;
  if (!pass || lane == nullptr || lane->tenure != pass->tenure()) {
    status = ConsumerShardLost(home);
  } else {
    commit.shard = home;
    commit.cursor_moves.push_back(lane->events->Move());
    status = engine_.database().Apply(std::move(commit)).status;
  }
  if (!status.ok()) {
    Rewind();
    return status;
  }
  lane->events->Committed();
  EndTurn();
  return OkStatus();
}

Result<bool> EventQueue::TakeThrough(const EventPlace& last, size_t most) {
  Rewind();
  const auto shard = std::ranges::find(shards_, last.shard);
  if (shard == shards_.end()) return false;
  const auto pass = live_->gate().Enter(last.shard);
  if (!pass) return Unexpected(ConsumerShardLost(last.shard));
  ASSIGN_OR_RETURN(Lane* const lane, LaneOf(*pass));
  follow::LaneQueue& events = *lane->events;
  bool found = last.position <= events.stored().position;
  while (!found && events.taken() < most) {
    ASSIGN_OR_RETURN(const TriggerEvent* const event, NextEvent(events));
    if (event == nullptr || event->after.position > last.position) break;
    found = event->after.position == last.position;
    events.Take();
  }
  if (!found) {
    events.Rewind();
    return false;
  }
  if (events.taken() == 0) return true;
  turn_ = static_cast<size_t>(shard - shards_.begin());
  staying_ = true;
  return true;
}

Status EventQueue::Consume(const Origin& origin, size_t count) {
  const auto pass = live_->gate().Enter(origin.shard);
  Lane* const lane = Find(origin.shard);
  if (!pass || lane == nullptr || pass->tenure() != origin.tenure ||
      lane->tenure != origin.tenure) {
    return ConsumerShardLost(origin.shard);
  }
  db::Commit commit;
  commit.shard = origin.shard;
  commit.cursor_moves.push_back(lane->events->Move(count));
  RETURN_IF_ERROR(engine_.database().Apply(std::move(commit)).status);
  lane->events->Committed(count);
  return OkStatus();
}

}  // namespace sluice::procedure
