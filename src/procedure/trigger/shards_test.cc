// Triggers and consumers on a collection that is spread over several shards, and what they do when
// shards are lost and gained.
#include <atomic>
#include <future>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/random.h"
#include "db/ownership.h"
#include "db/test_other_owner.h"
#include "procedure/test_procedures.h"
#include "procedure/trigger/poll_client.h"

namespace sluice::procedure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint16_t kShardCount = 4;
constexpr uint64_t kForEverMs = 3'600'000;

// Appends the event's n to the list of the document with the same key, in another collection; the
// two are in one shard. Fails for n < 0.
constexpr std::string_view kNoteProcedure = R"lua(CREATE PROCEDURE note {
local function main(event)
  if event.new.n < 0 then error('negative: ' .. event.new.n) end
  local update = db:prepare('UPDATE seen USE KEYS $k SET list = ARRAY_APPEND(list, $n)')
  update:bind('k', event.key) update:bind('n', event.new.n)
  update:exec()
  if update:rows_changed() > 0 then return 0 end
  local insert = db:prepare("INSERT INTO seen (KEY, VALUE) VALUES ($k, {'list': [$n]})")
  insert:bind('k', event.key) insert:bind('n', event.new.n)
  insert:exec()
  return 0
end
})lua";

class ShardsTest : public ProceduresTest {
 protected:
  ShardsTest() { options_.shards = kShardCount; }

  void SetUp() override {
    ProceduresTest::SetUp();
    ASSERT_TRUE(database_->admin().CreateBucket("seen").ok());
    EXPECT_THAT(Ask(kNoteProcedure), HasSubstr("version"));
  }
  void MakeTrigger() {
    EXPECT_EQ(Ask("CREATE LUA TRIGGER note ON (TABLE b FOR INSERT AND UPDATE)"), "");
  }
  void MakeConsumer() {
    EXPECT_EQ(Ask("CREATE DEFAULT LUA CONSUMER watch ON (TABLE b FOR INSERT AND UPDATE)"), "");
  }
  db::Ownership& ownership() { return database_->ownership(); }
  Triggers& triggers() { return manager_->triggers(); }
  TriggerRunner& runner() { return **triggers().RunnerOf("note"); }

  // The number `i` among the keys of the shard.
  std::string KeyIn(db::ShardId shard, int i) const {
    for (int n = 0;; ++n) {
      std::string key = fmt::format("k{}", n);
      if (database_->ShardOfKey(key) == shard && i-- == 0) return key;
    }
  }
  void PutN(const std::string& key, int n) {
    const auto put = Put(key, fmt::format(R"({{"n":{}}})", n));
    ASSERT_TRUE(put.status.ok()) << put.status.ToString();
  }
  // Waits for the shard.
  void PutWhenOwned(const std::string& key, int n) {
    for (Status refused = Error(Code::kUnavailable, std::string(db::kNotOwner), "");
         !refused.ok();) {
      ASSERT_EQ(refused.id(), db::kNotOwner);
      refused = Put(key, fmt::format(R"({{"n":{}}})", n)).status;
    }
  }
  // In a lost shard.
  void PutElsewhere(const std::string& key, int n) {
    db::Commit commit;
    commit.shard = database_->ShardOfKey(key);
    commit.writes.push_back(
        db::PutWrite(keyspace_, key, db::Document{.body = fmt::format(R"({{"n":{}}})", n)}));
    ASSERT_TRUE(db::OtherOwner::Apply(*database_, std::move(commit)).status.ok());
  }
  // The list of the trigger for this key, as JSON.
  std::string Seen(const std::string& key) {
    return Ask(fmt::format("SELECT RAW list FROM seen USE KEYS '{}'", key));
  }
  db::CursorState CursorOf(const std::string& name, db::ShardId shard) {
    return *database_->followers().ReadCursor({FollowerOf(name), shard, 0});
  }
  uint64_t Consumed(const std::string& name) {
    uint64_t events = 0;
    for (db::ShardId shard = 0; shard < kShardCount; ++shard) {
      events += CursorOf(name, shard).events;
    }
    return events;
  }
  // Moves the cursor past everything that is there, as another owner of the shard would.
  void ConsumeElsewhere(const std::string& name, db::ShardId shard) {
    const db::CursorState stored = CursorOf(name, shard);
    db::CursorState next = stored;
    next.position = {database_->followers().LastSequence(shard), UINT32_MAX};
    ++next.events;
    db::Commit commit;
    commit.shard = shard;
    commit.cursor_moves.push_back({{FollowerOf(name), shard, 0}, stored, next});
    const Status moved = db::OtherOwner::Apply(*database_, std::move(commit)).status;
    ASSERT_TRUE(moved.ok()) << moved.ToString();
  }
  // Also after commits to other shards.
  void Await(const std::function<bool()>& holds) { db::AwaitCommitted(*database_, holds); }

  static PollRequest PollOf(std::optional<EventPlace> acknowledged = std::nullopt) {
    return {.consumer = "watch",
            .client = "one",
            .acknowledged = acknowledged,
            .timeout_ms = kForEverMs};
  }
};

TEST(EventIds, NameTheShard) {
  const EventPlace place{3, {0x1234, 7}};
  EXPECT_EQ(ToHex(EventId(place)), "000300000000123400000007");
  EXPECT_EQ(PlaceOfId(EventId(place)), place);
  EXPECT_EQ(PlaceOfHexId("000300000000123400000007"), place);
  EXPECT_EQ(ToHex(EventId({0, {0x1234, 7}})), "000000000000123400000007");
  EXPECT_LT(EventId({1, {2, 9}}), EventId({1, {3, 0}}));
  EXPECT_EQ(PlaceOfHexId("00030000000012340000000"), std::nullopt);
  EXPECT_EQ(PlaceOfHexId("00030000000012340000000x"), std::nullopt);
}

TEST(EventIds, TransactionIdsDifferBetweenShards) {
  std::set<int64_t> ids;
  for (db::ShardId shard = 0; shard < kShardCount; ++shard) {
    for (db::Sequence sequence = 1; sequence <= 10; ++sequence) {
      TriggerEvent event;
      event.shard = shard;
      event.shard_count = kShardCount;
      event.after.position.sequence = sequence;
      EXPECT_TRUE(ids.insert(event.tid()).second);
    }
  }
  TriggerEvent alone;
  alone.after.position.sequence = 12;
  EXPECT_EQ(alone.tid(), 12);
}

TEST_F(ShardsTest, ATriggerHandlesEachChangeOnceAndThoseOfADocumentInOrder) {
  MakeTrigger();
  constexpr int kKeys = 20;
  constexpr int kRounds = 10;
  for (int n = 0; n < kRounds; ++n) {
    for (int i = 0; i < kKeys; ++i) PutN(fmt::format("k{}", i), n);
  }
  Await([&] { return Consumed("note") == kKeys * kRounds; });
  for (int i = 0; i < kKeys; ++i) {
    EXPECT_EQ(Seen(fmt::format("k{}", i)), "[0,1,2,3,4,5,6,7,8,9]\n");
  }
  for (db::ShardId shard = 0; shard < kShardCount; ++shard) {
    EXPECT_GT(CursorOf("note", shard).events, 0u);
  }
  EXPECT_TRUE(
      Eventually([&] { return triggers().ProgressOf("note")->handled == kKeys * kRounds; }));
  EXPECT_EQ(triggers().StatusOf("note")->depth, 0u);
}

TEST_F(ShardsTest, ATriggerGoesOnAfterARestart) {
  MakeTrigger();
  for (db::ShardId shard = 0; shard < kShardCount; ++shard) PutN(KeyIn(shard, 0), 1);
  Await([&] { return Consumed("note") == kShardCount; });
  ASSERT_TRUE(triggers().Hold("note", true).ok());
  for (db::ShardId shard = 0; shard < kShardCount; ++shard) PutN(KeyIn(shard, 0), 2);
  EXPECT_EQ(triggers().StatusOf("note")->depth, kShardCount);
  Restart();
  EXPECT_EQ(triggers().StatusOf("note")->depth, kShardCount);
  ASSERT_TRUE(triggers().Hold("note", false).ok());
  Await([&] { return Consumed("note") == 2 * kShardCount; });
  for (db::ShardId shard = 0; shard < kShardCount; ++shard) {
    EXPECT_EQ(Seen(KeyIn(shard, 0)), "[1,2]\n");
  }
}

TEST_F(ShardsTest, ATriggerOnATableFollowsTheShardOfTables) {
  Ask("CREATE TABLE t(i int)");
  Ask("CREATE TABLE copy(i int)");
  Ask("CREATE PROCEDURE take {local function main(e) return db:table('copy'):insert(e.new) end}");
  EXPECT_EQ(Ask("CREATE LUA TRIGGER take ON (TABLE t FOR INSERT)"), "");
  ownership().Take(1);
  Ask("INSERT INTO t VALUES (1), (2)");
  EXPECT_TRUE(Becomes("SELECT RAW i FROM copy", "1\n2\n"));
  EXPECT_EQ(CursorOf("take", db::kTablesShard).events, 2u);
}

// The home of the commit is the event's shard, whatever it writes.
TEST_F(ShardsTest, ATriggerWritesToOtherShards) {
  Ask("CREATE TABLE copy(k vutf8, n int)");
  Ask("CREATE PROCEDURE note VERSION 'rows' {local function main(e)\n"
      "return db:table('copy'):insert({k = e.key, n = e.new.n}) end}");
  Ask("PUT DEFAULT PROCEDURE note 'rows'");
  MakeTrigger();
  for (db::ShardId shard = 0; shard < kShardCount; ++shard) PutN(KeyIn(shard, 0), shard);
  EXPECT_TRUE(Becomes("SELECT RAW count(*) FROM copy", fmt::format("{}\n", kShardCount)));
  EXPECT_EQ(Ask("SELECT RAW n FROM copy ORDER BY n"), "0\n1\n2\n3\n");
  EXPECT_EQ(Consumed("note"), kShardCount);
}

TEST_F(ShardsTest, AnEventThatFailsHoldsUpItsShardOnly) {
  MakeTrigger();
  PutN(KeyIn(1, 0), -1);
  PutN(KeyIn(1, 1), 1);
  PutN(KeyIn(2, 0), 2);
  Await([&] { return CursorOf("note", 2).events == 1; });
  EXPECT_EQ(Seen(KeyIn(2, 0)), "[2]\n");
  EXPECT_TRUE(Eventually([&] { return triggers().ProgressOf("note")->attempts() > 1; }));
  EXPECT_EQ(Seen(KeyIn(1, 1)), "");
  const TriggerStatus status = *triggers().StatusOf("note");
  ASSERT_TRUE(status.head);
  EXPECT_EQ(status.head->shard, 1);
  EXPECT_EQ(status.depth, 2u);
  EXPECT_TRUE(runner().Skip(status.head->id()).ok());
  Await([&] { return CursorOf("note", 1).events == 2; });
  EXPECT_EQ(Seen(KeyIn(1, 1)), "[1]\n");
}

TEST_F(ShardsTest, DeadLettersOfSeveralShards) {
  MakeTrigger();
  const std::vector<db::ShardId> failing{1, 3};
  for (const db::ShardId shard : failing) PutN(KeyIn(shard, 0), -1 - shard);
  EXPECT_TRUE(Eventually([&] { return triggers().ProgressOf("note")->failing.size() == 2; }));
  for (const db::ShardId shard : failing) {
    const std::string id = triggers().ProgressOf("note")->failing.at(shard).event_id;
    EXPECT_EQ(PlaceOfId(id)->shard, shard);
    EXPECT_TRUE(runner().MoveToDeadLetters(id).ok());
    EXPECT_EQ(runner().MoveToDeadLetters(id).id(), "trigger.not_head");
  }
  EXPECT_TRUE(triggers().ProgressOf("note")->failing.empty());
  Restart();
  std::vector<failure::FailureId> letters;
  EXPECT_TRUE((*triggers().DeadLettersOf("note"))
                  ->Visit({},
                          [&](const failure::FailureList::Item& item) {
                            letters.push_back(item.failure.id);
                            return true;
                          })
                  .ok());
  ASSERT_EQ(letters.size(), 2u);
  EXPECT_EQ(letters[0].shard, 1);
  EXPECT_EQ(letters[1].shard, 3);
  EXPECT_EQ((*triggers().ShowDeadLetter("note", letters[1]))["key"], Value(KeyIn(3, 0)));
  EXPECT_EQ((*triggers().ShowDeadLetter("note", letters[1]))["shard"], Value(3));

  EXPECT_THAT(runner().RetryDeadLetter(letters[1]).ToString(), HasSubstr("negative"));
  Ask("CREATE PROCEDURE note VERSION 'mended' {local function main(e)\n"
      "local insert = db:prepare(\"INSERT INTO seen (KEY, VALUE) VALUES ($k, {'list': [$n]})\")\n"
      "insert:bind('k', e.key) insert:bind('n', e.new.n) insert:exec() return 0 end}");
  Ask("PUT DEFAULT PROCEDURE note 'mended'");
  ownership().Take(1);
  EXPECT_EQ(runner().RetryDeadLetter(letters[0]).id(), "trigger.shard_lost");
  ownership().Give(1);
  for (const failure::FailureId& id : letters) EXPECT_TRUE(runner().RetryDeadLetter(id).ok());
  EXPECT_EQ(Seen(KeyIn(1, 0)) + Seen(KeyIn(3, 0)), "[-2]\n[-4]\n");
  EXPECT_EQ((*triggers().DeadLettersOf("note"))->kept(), 0u);
}

// The code would sleep for ten minutes. What it makes of its end has no effect.
TEST_F(ShardsTest, ALostShardEndsTheRunOfItsEvent) {
  for (const std::string wait :
       {"pcall(function() db:sleep(600) end)",
        "pcall(function() db:exec('SELECT COUNT(*) AS n FROM ARRAY_RANGE(0, 10000) AS a UNNEST "
        "ARRAY_RANGE(0, 10000) AS b UNNEST ARRAY_RANGE(0, 10000) AS c'):fetch() end)"}) {
    Ask("CREATE PROCEDURE note VERSION 'slow' {local function main(e)\n"
        "if e.new.n == 1 then " +
        wait +
        " end\n"
        "local insert = db:prepare(\"INSERT INTO seen (KEY, VALUE) VALUES ($k, {'list': [$n]})\")\n"
        "insert:bind('k', e.key) insert:bind('n', e.new.n) insert:exec() return 0 end}");
    Ask("PUT DEFAULT PROCEDURE note 'slow'");
    MakeTrigger();
    PutN(KeyIn(1, 0), 1);
    EXPECT_TRUE(Eventually(
        [&] { return triggers().ProgressOf("note")->state == TriggerProgress::State::kRunning; }));
    ownership().Take(1);
    EXPECT_EQ(Seen(KeyIn(1, 0)), "");
    EXPECT_EQ(CursorOf("note", 1).events, 0u);
    // The other shards go on.
    PutN(KeyIn(2, 0), 2);
    Await([&] { return CursorOf("note", 2).events == 1; });
    EXPECT_EQ(Seen(KeyIn(2, 0)), "[2]\n");
    EXPECT_EQ(triggers().ProgressOf("note")->failures, 0u);
    EXPECT_EQ(runner().Skip(triggers().StatusOf("note")->head->id()).id(), "trigger.shard_lost");

    Ask("CREATE PROCEDURE note VERSION 'quick' {local function main(e) return 0 end}");
    Ask("PUT DEFAULT PROCEDURE note 'quick'");
    ownership().Give(1);
    Await([&] { return CursorOf("note", 1).events == 1; });
    EXPECT_EQ(Ask("DROP LUA TRIGGER note"), "");
    Ask("DELETE FROM seen");
  }
}

// Its follower needs a cursor in each shard.
TEST_F(ShardsTest, ATriggerIsMadeWhereAllShardsAreOwned) {
  ownership().Take(2);
  EXPECT_THAT(Ask("CREATE LUA TRIGGER note ON (TABLE b FOR INSERT)"),
              HasSubstr("catalog.shards_away"));
  ownership().Give(2);
  MakeTrigger();
}

// A poll's events are of one shard, and an acknowledgement gives the next shard its turn.
TEST_F(ShardsTest, PollsGiveTheEventsOfOneShardAfterTheOther) {
  MakeConsumer();
  for (int i = 0; i < 3; ++i) {
    for (db::ShardId shard = 0; shard < kShardCount; ++shard) PutN(KeyIn(shard, i), i);
  }
  EXPECT_EQ(triggers().StatusOf("watch")->depth, 3u * kShardCount);
  PollClients polls(*engine_, triggers());
  std::optional<EventPlace> acknowledged;
  std::set<std::string> ids;
  std::vector<db::ShardId> turns;
  for (int turn = 0; turn < kShardCount; ++turn) {
    const auto events = polls.Next(PollOf(acknowledged));
    ASSERT_TRUE(events) << events.error().ToString();
    ASSERT_EQ(events->size(), 3u);
    turns.push_back(events->front().shard);
    for (int i = 0; i < 3; ++i) {
      const TriggerEvent& event = (*events)[static_cast<size_t>(i)];
      EXPECT_EQ(event.shard, turns.back());
      EXPECT_EQ(event.key, KeyIn(event.shard, i));
      EXPECT_EQ(event.sequence(), i + 1);
      EXPECT_TRUE(ids.insert(event.id()).second);
    }
    // The same again, until they are acknowledged.
    EXPECT_EQ(polls.Next(PollOf(acknowledged))->front().id(), events->front().id());
    acknowledged = events->back().place();
  }
  EXPECT_THAT(turns, ElementsAre(0, 1, 2, 3));
  PollRequest last = PollOf(acknowledged);
  last.timeout_ms = 0;
  EXPECT_TRUE(polls.Next(last)->empty());
  EXPECT_EQ(Consumed("watch"), 3u * kShardCount);
  last.acknowledged = EventPlace{kShardCount, {1, 0}};
  EXPECT_EQ(polls.Next(last).error().id(), "consumer.bad_ack");
}

TEST_F(ShardsTest, AShardWithManyEventsHoldsUpNoOther) {
  MakeConsumer();
  for (int i = 0; i < 10; ++i) PutN(KeyIn(0, i), i);
  PutN(KeyIn(3, 0), 7);
  PollClients polls(*engine_, triggers());
  PollRequest poll = PollOf();
  poll.max = 2;
  poll.acknowledged = polls.Next(poll)->back().place();
  EXPECT_EQ(polls.Next(poll)->front().shard, 3);
}

// A transaction consumes events of one shard.
TEST_F(ShardsTest, AProcedureConsumesTheEventsOfOneShardTogether) {
  Ask(R"lua(CREATE PROCEDURE watch {
local function main()
  local consumer = db:consumer()
  while true do
    local event = consumer:get()
    local shard = event.shard
    db:begin()
    while event ~= nil do
      db:emit(event.shard, event.key, event.shard == shard)
      consumer:next()
      event = consumer:poll(0)
    end
    consumer:emit('end', db:get_event_sequence({type = 'add'}), true)
    db:commit()
  end
end})lua");
  EXPECT_EQ(Ask("CREATE LUA CONSUMER watch ON (TABLE b FOR INSERT)"), "");
  for (int i = 0; i < 2; ++i) {
    for (const db::ShardId shard : {0, 1, 2}) PutN(KeyIn(shard, i), i);
  }
  query::RunRequest request;
  request.acknowledges = true;
  auto client = *engine_->Query("EXEC PROCEDURE watch()", {}, std::move(request));
  for (const db::ShardId shard : {0, 1, 2}) {
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(client->Next());
      EXPECT_EQ(json::ToText(client->row()),
                fmt::format(R"({{"$0":{},"$1":"{}","$2":true}})", shard, KeyIn(shard, i)));
    }
    ASSERT_TRUE(client->Next());
    EXPECT_EQ(client->row()["$0"], Value("end"));
    EXPECT_EQ(client->row()["$1"], Value(2));
  }
  // The last acknowledgement comes with the request for a further row.
  PutN(KeyIn(3, 0), 1);
  ASSERT_TRUE(client->Next());
  EXPECT_EQ(client->row()["$0"], Value(3));
  EXPECT_EQ(Consumed("watch"), 6u);
}

// A default consumer's rows come ahead of their acknowledgements, from all shards in turn.
TEST_F(ShardsTest, ADefaultConsumerSendsTheEventsOfAllShards) {
  MakeConsumer();
  for (int i = 0; i < 2; ++i) {
    for (db::ShardId shard = 0; shard < kShardCount; ++shard) PutN(KeyIn(shard, i), i);
  }
  std::atomic<uint64_t> confirmed = 0;
  const auto receipts = std::make_shared<query::Receipts>([&](uint64_t rows) { confirmed = rows; });
  query::RunRequest request;
  request.acknowledges = true;
  request.receipts = receipts;
  auto client =
      *engine_->Query("EXEC PROCEDURE watch('{\"with_sequence\": true, \"with_tid\": true}')", {},
                      std::move(request));
  std::set<int64_t> transactions;
  for (int i = 0; i < 2; ++i) {
    for (db::ShardId shard = 0; shard < kShardCount; ++shard) {
      ASSERT_TRUE(client->Next());
      EXPECT_EQ(client->row()["key"], Value(KeyIn(shard, i)));
      EXPECT_EQ(client->row()["comdb2_sequence"], Value(i + 1));
      EXPECT_TRUE(transactions.insert(client->row()["comdb2_tid"].AsInt()).second);
    }
  }
  EXPECT_EQ(Consumed("watch"), 0u);
  receipts->Acknowledge(kShardCount + 1);
  Await([&] { return Consumed("watch") == kShardCount + 1; });
  EXPECT_TRUE(Eventually([&] { return confirmed == kShardCount + 1; }));
  EXPECT_EQ(CursorOf("watch", 0).events, 2u);
  EXPECT_EQ(CursorOf("watch", 1).events, 1u);
}

TEST_F(ShardsTest, AWaitingPollGoesOnWithTheOtherShards) {
  MakeConsumer();
  PollClients polls(*engine_, triggers());
  auto waiting = std::async(std::launch::async, [&] { return polls.Next(PollOf()); });
  EXPECT_TRUE(Eventually([&] {
    return (*triggers().Find("watch"))->seats().occupancy().state ==
           Seats::Occupancy::State::kTaken;
  }));
  ownership().Take(0);
  PutElsewhere(KeyIn(0, 0), 1);
  PutN(KeyIn(1, 0), 2);
  const auto events = waiting.get();
  ASSERT_TRUE(events);
  EXPECT_EQ(events->front().shard, 1);
  // The other shard's event comes when that is gained again.
  auto later =
      std::async(std::launch::async, [&] { return polls.Next(PollOf(events->front().place())); });
  Await([&] { return Consumed("watch") == 1; });
  ownership().Give(0);
  EXPECT_EQ(later.get()->front().shard, 0);
}

TEST_F(ShardsTest, AnAcknowledgementInALostShardIsRefused) {
  MakeConsumer();
  PutN(KeyIn(2, 0), 1);
  PollClients polls(*engine_, triggers());
  const TriggerEvent event = polls.Next(PollOf())->front();
  ownership().Take(2);
  EXPECT_EQ(polls.Next(PollOf(event.place())).error().id(), "consumer.shard_lost");
  ownership().Give(2);
  EXPECT_EQ(polls.Next(PollOf())->front().id(), event.id());
  EXPECT_EQ(Consumed("watch"), 0u);
}

TEST_F(ShardsTest, TheTransactionOfALostShardIsRefused) {
  Ask(R"lua(CREATE PROCEDURE watch {
local function main()
  local consumer = db:consumer()
  while true do
    local event = consumer:get()
    db:begin()
    local insert = db:prepare("INSERT INTO seen (KEY, VALUE) VALUES ($k, {'list': [$n]})")
    insert:bind('k', event.key) insert:bind('n', event.new.n) insert:exec()
    consumer:emit(event.key)
    consumer:consume()
    db:emit(db:commit())
  end
end})lua");
  EXPECT_EQ(Ask("CREATE LUA CONSUMER watch ON (TABLE b FOR INSERT)"), "");
  PutN(KeyIn(1, 0), 1);
  query::RunRequest request;
  request.acknowledges = true;
  auto client = *engine_->Query("EXEC PROCEDURE watch()", {}, std::move(request));
  const auto next = [&] { return client->Next() ? json::ToText(client->row()) : "end"; };
  EXPECT_EQ(next(), fmt::format(R"({{"$0":"{}"}})", KeyIn(1, 0)));
  ownership().Take(1);
  EXPECT_EQ(next(), R"({"$0":2})");
  EXPECT_EQ(Seen(KeyIn(1, 0)), "");
  PutN(KeyIn(0, 0), 1);
  EXPECT_EQ(next(), fmt::format(R"({{"$0":"{}"}})", KeyIn(0, 0)));
  EXPECT_EQ(next(), R"({"$0":0})");
  ownership().Give(1);
  EXPECT_EQ(next(), fmt::format(R"({{"$0":"{}"}})", KeyIn(1, 0)));
  EXPECT_EQ(next(), R"({"$0":0})");
  EXPECT_EQ(Seen(KeyIn(0, 0)) + Seen(KeyIn(1, 0)), "[1]\n[1]\n");
}

// Rows that were sent can't be taken back, so the client has to hear that its acknowledgement is
// worth nothing.
TEST_F(ShardsTest, ADefaultConsumerEndsWhenRowsOfALostShardAreAcknowledged) {
  MakeConsumer();
  for (const db::ShardId shard : {1, 2}) PutN(KeyIn(shard, 0), 1);
  query::RunRequest request;
  request.acknowledges = true;
  auto client = *engine_->Query("EXEC PROCEDURE watch()", {}, request);
  ASSERT_TRUE(client->Next());
  EXPECT_EQ(client->row()["key"], Value(KeyIn(1, 0)));
  ownership().Take(1);
  EXPECT_FALSE(client->Next());
  EXPECT_EQ(client->status().id(), "procedure.failed");
  EXPECT_THAT(client->status().message(), HasSubstr("does not own shard 1"));
  client = *engine_->Query("EXEC PROCEDURE watch()", {}, request);
  ASSERT_TRUE(client->Next());
  EXPECT_EQ(client->row()["key"], Value(KeyIn(2, 0)));
  ownership().Give(1);
  ASSERT_TRUE(client->Next());
  EXPECT_EQ(client->row()["key"], Value(KeyIn(1, 0)));
  EXPECT_EQ(Consumed("watch"), 1u);
}

TEST_F(ShardsTest, AShardThatIsGainedAgainIsReadFromItsStoredCursor) {
  MakeTrigger();
  MakeConsumer();
  PollClients polls(*engine_, triggers());
  PutN(KeyIn(1, 0), 1);
  Await([&] { return Consumed("note") == 1; });
  EXPECT_EQ(polls.Next(PollOf())->front().key, KeyIn(1, 0));
  ownership().Take(1);
  PutElsewhere(KeyIn(1, 1), 2);
  ConsumeElsewhere("note", 1);
  ConsumeElsewhere("watch", 1);
  ownership().Give(1);
  PutN(KeyIn(1, 2), 3);
  Await([&] { return Consumed("note") == 3; });
  EXPECT_EQ(Seen(KeyIn(1, 0)) + Seen(KeyIn(1, 1)) + Seen(KeyIn(1, 2)), "[1]\n[3]\n");
  EXPECT_EQ(polls.Next(PollOf())->front().key, KeyIn(1, 2));
}

// A client that acknowledges everything it gets, until it has acknowledged so many events.
class PollingClient {
 public:
  PollingClient(query::QueryEngine& engine, const Triggers& triggers, size_t most)
      : polls_(engine, triggers), most_(most) {}

  void Run() {
    std::vector<TriggerEvent> got;
    while (acknowledged_.size() < most_) {
      PollRequest poll{.consumer = "watch", .client = "one", .max = 7, .timeout_ms = kForEverMs};
      if (!got.empty()) poll.acknowledged = got.back().place();
      if (acknowledged_.size() + got.size() >= most_) poll.max = 0;
      auto events = polls_.Next(poll);
      if (events) {
        for (const TriggerEvent& event : got) acknowledged_.push_back(event);
        got = std::move(*events);
        continue;
      }
      ASSERT_EQ(events.error().id(), "consumer.shard_lost");
      got.clear();  // they come again
    }
  }
  const std::vector<TriggerEvent>& acknowledged() const { return acknowledged_; }

 private:
  PollClients polls_;
  const size_t most_;
  std::vector<TriggerEvent> acknowledged_;
};

class GiveAndTakeTest : public ShardsTest, public testing::WithParamInterface<uint64_t> {
 protected:
  // Everything that the trigger and the consumer leave in a shard.
  std::string StateOf(db::ShardId shard) {
    std::string state =
        fmt::format("{} {}\n", CursorOf("note", shard).events, CursorOf("watch", shard).events);
    const db::KeyspaceId seen = *database_->Resolve({.bucket = "seen"});
    EXPECT_TRUE(database_
                    ->Scan(seen, {},
                           [&](std::string_view key, const db::DocumentView& document) {
                             if (database_->ShardOfKey(key) != shard) return true;
                             state.append(key).append(document.body).append("\n");
                             return true;
                           })
                    .ok());
    return state;
  }
};

TEST_P(GiveAndTakeTest, EachEventOnceAndNothingInAShardThatIsLost) {
  constexpr int kKeys = 12;
  constexpr int kRounds = 25;
  constexpr size_t kEvents = size_t{kKeys} * kRounds;
  MakeTrigger();
  MakeConsumer();
  PollingClient client(*engine_, triggers(), kEvents);
  std::thread polling([&] { client.Run(); });
  std::atomic<int> rounds = 0;
  std::thread writing([&] {
    for (int n = 0; n < kRounds; ++n) {
      for (int i = 0; i < kKeys; ++i) PutWhenOwned(fmt::format("k{}", i), n);
      ++rounds;
    }
  });

  Random random(GetParam());
  std::map<db::ShardId, std::string> lost;  // with the state then
  while (rounds < kRounds) {
    const auto shard = static_cast<db::ShardId>(random.Below(kShardCount));
    const auto found = lost.find(shard);
    if (found == lost.end()) {
      ownership().Take(shard);
      lost[shard] = StateOf(shard);
    } else {
      EXPECT_EQ(StateOf(shard), found->second);
      lost.erase(found);
      ownership().Give(shard);
    }
  }
  writing.join();
  for (const auto& [shard, state] : lost) {
    EXPECT_EQ(StateOf(shard), state);
    ownership().Give(shard);
  }
  polling.join();
  Await([&] { return Consumed("note") == kEvents; });

  std::string all = "[";
  for (int n = 0; n < kRounds; ++n) all += fmt::format("{}{}", n == 0 ? "" : ",", n);
  for (int i = 0; i < kKeys; ++i) EXPECT_EQ(Seen(fmt::format("k{}", i)), all + "]\n");
  EXPECT_EQ(Consumed("watch"), kEvents);
  std::map<std::string, int64_t> next;  // by key
  std::map<db::ShardId, int64_t> numbers;
  for (const TriggerEvent& event : client.acknowledged()) {
    EXPECT_EQ(event.inserted["n"].AsInt(), next[event.key]++);
    EXPECT_EQ(event.sequence(), ++numbers[event.shard]);
  }
  for (int i = 0; i < kKeys; ++i) EXPECT_EQ(next[fmt::format("k{}", i)], kRounds);
}

INSTANTIATE_TEST_SUITE_P(Seeds, GiveAndTakeTest, testing::Range<uint64_t>(1, 6));

}  // namespace
}  // namespace sluice::procedure
