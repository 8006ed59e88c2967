#include "follow/cursors.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "follow/test_log.h"
#include "follow/test_processor.h"

namespace sluice::follow {
namespace {

db::CursorState InLog(db::Sequence sequence) {
  db::CursorState state;
  state.position.sequence = sequence;
  return state;
}
db::CursorState InBackfill(std::string key) {
  db::CursorState state = InLog(100);
  state.backfilling = true;
  state.backfill_keyspace = 1;
  state.backfill_key = std::move(key);
  return state;
}

EventPtr EventOf(uint16_t lane, db::Sequence sequence) {
  auto event = std::make_unique<FakeEvent>();
  event->lane = lane;
  event->after = InLog(sequence);
  return event;
}

TEST(Cursors, ABackfillComesBeforeTheLog) {
  EXPECT_TRUE(IsBefore(InLog(1), InLog(2)));
  EXPECT_FALSE(IsBefore(InLog(2), InLog(2)));
  EXPECT_TRUE(IsBefore(InBackfill("a"), InBackfill("b")));
  EXPECT_FALSE(IsBefore(InBackfill("b"), InBackfill("a")));
  EXPECT_TRUE(IsBefore(InBackfill("z"), InLog(1)));
  EXPECT_FALSE(IsBefore(InLog(1), InBackfill("a")));
}

TEST(LaneCursors, MoveEachLanePastTheLastOfItsEvents) {
  FakeLog log(4);
  log.MoveCursor(1, 10);
  log.MoveCursor(2, 20);
  auto cursors = LaneCursors::Load(*log.NewSource(), 3);
  ASSERT_TRUE(cursors.has_value());
  EXPECT_EQ(cursors->shard(), 4);
  EXPECT_EQ(cursors->lowest(), InLog(0));
  std::vector<EventPtr> events;
  events.push_back(EventOf(2, 30));
  events.push_back(EventOf(1, 31));
  events.push_back(EventOf(2, 32));
  events.push_back(EventOf(0, 33));
  events.back()->from_log = false;
  const auto moves = cursors->MovesPast(events);
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_EQ(moves[0].cursor.lane, 1);
  EXPECT_EQ(moves[0].cursor.shard, 4);
  EXPECT_EQ(moves[0].expected, InLog(10));
  EXPECT_EQ(moves[0].next.position.sequence, 31u);
  EXPECT_EQ(moves[0].next.events, 1u);
  EXPECT_EQ(moves[1].cursor.lane, 2);
  EXPECT_EQ(moves[1].next.position.sequence, 32u);
  EXPECT_EQ(moves[1].next.events, 2u);
  cursors->Moved(events, moves);
  EXPECT_EQ(cursors->at(2), moves[1].next);
  EXPECT_EQ(cursors->at(0), InLog(0));
}

TEST(LaneCursors, MoveThoseThatAreBehindToAPlace) {
  FakeLog log;
  log.MoveCursor(1, 10);
  log.MoveCursor(2, 40);
  const auto cursors = LaneCursors::Load(*log.NewSource(), 3);
  ASSERT_TRUE(cursors.has_value());
  const auto moves = cursors->MovesTo(InLog(30));
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_EQ(moves[0].cursor.lane, 0);
  EXPECT_EQ(moves[1].cursor.lane, 1);
  EXPECT_EQ(moves[1].next, InLog(30));
}

}  // namespace
}  // namespace sluice::follow
