// What waits for a trigger or a consumer: the changes of its sources after its cursor. There is no
// queue that rows are copied to; the log is one, held by the cursor.
//
//   Next     the event after those that were taken, or null: nothing is there now
//   Take     it is to be consumed with the next commit
//   Move     the cursor's way past all that was taken, for that commit
//   Committed or Rewind
//
// One thread.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>

#include "base/status.h"
#include "db/commit.h"
#include "db/feed.h"
#include "procedure/trigger/event.h"

namespace sluice::procedure {

class EventQueue {
 public:
  // Error cursor.not_found when it was dropped.
  static Result<EventQueue> Open(query::QueryEngine& engine,
                                 std::shared_ptr<const TriggerDefinition> definition);

  Result<const TriggerEvent*> Next();
  void Take();
  size_t taken() const { return taken_; }

  // From the stored cursor to here. It also passes changes that the definition leaves out.
  db::CursorMove Move() const { return Move(taken_); }
  // Past the first `count` of those that were taken.
  db::CursorMove Move(size_t count) const;
  // Whether the cursor would move.
  bool HasMove() const { return After(taken_) != stored_; }
  void Committed() { Committed(taken_); }
  void Committed(size_t count);
  // Nothing counts as taken any more.
  void Rewind() { taken_ = 0; }
  // Reads the cursor again, which somebody else may have moved, and forgets what was read.
  Status Reload();

  const db::CursorState& stored() const { return stored_; }

 private:
  EventQueue(query::QueryEngine& engine, std::shared_ptr<const TriggerDefinition> definition,
             EventMaker maker);
  Status ReadMore();
  // The cursor when the first `count` events are consumed.
  db::CursorState After(size_t count) const;

  query::QueryEngine* engine_;
  std::shared_ptr<const TriggerDefinition> definition_;
  std::string follower_;
  EventMaker maker_;
  db::CursorState stored_;
  std::unique_ptr<db::Feed> feed_;
  std::deque<TriggerEvent> events_;  // read and not consumed
  size_t taken_ = 0;                 // of them, from the front
  db::CursorState read_;             // after all that was read, events or not
};

}  // namespace sluice::procedure
