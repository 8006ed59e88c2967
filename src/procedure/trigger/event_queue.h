// The events that wait for a consumer, in all shards that it follows and may work in: a
// follow::LaneQueue for each.
//
//   Next             the event after the taken ones, or null if there is none now
//   Take             takes it: the next Commit consumes it
//   Commit, Rewind   consumes all taken events, or none
//
// Operation: the shards have turns. The first taken event decides the shard of all that are taken
// with it, because one commit moves the cursor of one shard; after Commit or EndTurn it is the next
// shard's turn. A shard without events is passed over. When a shard is lost, its events are taken
// back: Commit fails with consumer.shard_lost, and Next goes on with other shards.
//
// Concurrency: one thread at a time. It has a pass for a shard only during a call, so that nobody
// waits for a client.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/status.h"
#include "db/commit.h"
#include "follow/lane_queue.h"
#include "follow/shard_gate.h"
#include "procedure/trigger/event.h"
#include "procedure/trigger/live_queue.h"
#include "query/engine.h"

namespace sluice::procedure {

class EventQueue {
 public:
  EventQueue(query::QueryEngine& engine, std::shared_ptr<LiveQueue> live);

  // Valid until the next call of a method that is not const, Take aside. Errors: cursor.not_found
  // when the consumer was dropped; consumer.shard_lost when events were taken of a shard that was
  // lost: then Rewind.
  Result<const TriggerEvent*> Next();
  // The event that Next has given.
  void Take();
  // The number of taken events of this turn.
  size_t taken() const;
  // Nothing counts as taken any more. The turn does not change.
  void Rewind();

  // Consumes the taken events of this turn with `commit`, whose home becomes their shard; without
  // any it commits what there is. Waits. After an error nothing counts as taken.
  Status Commit(db::Commit commit);

  // Takes all events up to this one, and rewinds first. False when the place is not that of an
  // event, or more than `most` events come before it. Events that were consumed before are not
  // taken again, and true.
  Result<bool> TakeThrough(const EventPlace& last, size_t most);

  // For callers that take events of several turns before they consume those of the first.
  // Where the event that Next has given comes from.
  struct Origin {
    db::ShardId shard = 0;
    follow::ShardGate::TenurePtr tenure;
    bool operator==(const Origin&) const = default;
  };
  Origin origin() const;
  void EndTurn();
  // Consumes the first `count` taken events of the origin. Waits.
  Status Consume(const Origin& origin, size_t count);

 private:
  struct Lane {
    follow::ShardGate::TenurePtr tenure;
    std::unique_ptr<follow::LaneQueue> events;
  };
  // Of the shard of the pass, in its tenure.
  Result<Lane*> LaneOf(const follow::ShardGate::Pass& pass);
  Result<const TriggerEvent*> NextIn(db::ShardId shard);
  Lane* Find(db::ShardId shard);
  db::ShardId shard() const { return shards_[turn_]; }

  query::QueryEngine& engine_;
  const std::shared_ptr<LiveQueue> live_;
  const std::shared_ptr<const TriggerDefinition> definition_;
  const std::vector<db::ShardId> shards_;
  std::map<db::ShardId, Lane> lanes_;  // those that were looked at
  size_t turn_ = 0;                    // in shards_
  bool staying_ = false;               // an event of this turn was taken
};

}  // namespace sluice::procedure
