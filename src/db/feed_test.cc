// What followers see: nothing missing, nothing twice, in order, across restarts and trims.
#include "db/feed.h"

#include <set>
#include <thread>

#include <gmock/gmock.h>

#include "db/database_impl.h"
#include "db/log.h"
#include "db/test_database.h"
#include "db/test_follower.h"

namespace sluice::db {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Start = FollowerOptions::Start;

class FeedTest : public DatabaseTest {
 protected:
  FeedTest() { options_.durability = Durability::kNone; }

  void Follow(FollowerOptions options) {
    if (options.name.empty()) options.name = "f";
    if (options.keyspaces.empty()) options.keyspaces = {keyspace_};
    const Status created = database_->followers().Create(options);
    ASSERT_TRUE(created.ok()) << created.ToString();
  }
  TestFollower Follower(const std::string& name = "f") { return {*database_, name}; }
  KeyspaceId NewKeyspace(const std::string& collection) {
    EXPECT_TRUE(database_->admin().CreateCollection({"b", "_default", collection}).ok());
    return *database_->Resolve({"b", "_default", collection});
  }
  size_t LogRows() {
    size_t rows = 0;
    const auto iterator = StoreOf(*database_).NewIterator(storage::Family::kLog, {});
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) ++rows;
    return rows;
  }
  Result<CursorState> StartAfter(Sequence since) {
    return Feed::StartAfter(*database_, 0, {keyspace_}, since);
  }
  Sequence Last() { return database_->followers().LastSequence(0); }
};

TEST_F(FeedTest, APatternTakesKeyspacesFromTheMomentTheyAreMade) {
  ASSERT_TRUE(database_->admin().CreateScope("b", "s").ok());
  FollowerOptions options{.name = "f", .pattern = KeyspaceName{"b", "s", "*"}};
  ASSERT_TRUE(database_->followers().Create(options).ok());
  const auto make = [&](const KeyspaceName& name) {
    EXPECT_TRUE(database_->admin().CreateCollection(name).ok());
    return *database_->Resolve(name);
  };
  const auto put = [&](KeyspaceId keyspace, const std::string& key, const std::string& body) {
    Commit commit;
    commit.writes.push_back(PutWrite(keyspace, key, Document{.body = body}));
    ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  };
  auto feed =
      *Feed::OfFollower(*database_, 0, "f", *database_->followers().ReadCursor({"f", 0, 0}));
  const auto read = [&] {
    std::vector<std::string> texts;
    const auto given = feed->Read(100, [&](const Change& change) {
      texts.push_back(TextOf(change));
      return true;
    });
    EXPECT_TRUE(given) << given.error().ToString();
    return texts;
  };
  const KeyspaceId one = make({"b", "s", "one"});
  put(one, "a", "1");
  put(one, "a", "2");
  put(keyspace_, "not followed", "0");
  EXPECT_THAT(read(), ElementsAre("insert a -> 1", "update a -> 2"));
  const KeyspaceId two = make({"b", "s", "two"});
  put(two, "b", "1");
  put(make({"b", "_default", "aside"}), "c", "0");
  EXPECT_THAT(read(), ElementsAre("insert b -> 1"));
  put(one, "gone", "1");
  ASSERT_TRUE(database_->admin().DropCollection({"b", "s", "one"}).ok());
  put(two, "b", "2");
  EXPECT_EQ(database_->catalog()->FindFollower("f")->keyspaces, std::vector<KeyspaceId>{two});
  feed.reset();
  Reopen();
  put(make({"b", "s", "one"}), "d", "1");
  feed = *Feed::OfFollower(*database_, 0, "f", *database_->followers().ReadCursor({"f", 0, 0}));
  EXPECT_THAT(read(), ElementsAre("insert b -> 1", "update b -> 2", "insert d -> 1"));
}

TEST_F(FeedTest, FromNowGivesOnlyWhatComesLater) {
  ASSERT_TRUE(Put("old", "0").status.ok());
  Follow({});
  ASSERT_TRUE(Put("a", "1").status.ok());
  ASSERT_TRUE(Put("a", "2").status.ok());
  ASSERT_TRUE(Delete("a").status.ok());
  ASSERT_TRUE(Delete("nothing").status.ok());
  EXPECT_THAT(Follower().ConsumeAll(), ElementsAre("insert a -> 1", "update a -> 2", "delete a"));
  Reopen();
  EXPECT_THAT(Follower().ConsumeAll(), IsEmpty());
  ASSERT_TRUE(Put("a", "3").status.ok());
  EXPECT_THAT(Follower().ConsumeAll(), ElementsAre("insert a -> 3"));
  EXPECT_EQ(Follower().cursor().events, 4u);
}

TEST_F(FeedTest, NothingIsLoggedThatNobodyFollows) {
  ASSERT_TRUE(Put("a", "1").status.ok());
  EXPECT_EQ(LogRows(), 0u);
  Follow({});
  ASSERT_TRUE(Put("a", "2").status.ok());
  EXPECT_EQ(LogRows(), 1u);
  ASSERT_TRUE(database_->followers().Drop("f").ok());
  ASSERT_TRUE(Put("a", "3").status.ok());
  EXPECT_EQ(LogRows(), 1u);
  ASSERT_TRUE(database_->operations().TrimNow().ok());
  EXPECT_EQ(LogRows(), 0u);
}

TEST_F(FeedTest, ImagesAsAskedFor) {
  Follow({.name = "f", .needs_before = true});
  ASSERT_TRUE(Put("a", "1").status.ok());
  ASSERT_TRUE(Put("a", "2").status.ok());
  ASSERT_TRUE(Delete("a").status.ok());
  EXPECT_THAT(Follower().ConsumeAll(),
              ElementsAre("insert a -> 1", "update a 1 -> 2", "delete a 2"));
}

TEST_F(FeedTest, AFollowerWithoutImagesSeesEveryChange) {
  Follow({.name = "f", .needs_after = false});
  for (const char* body : {"1", "2", "3"}) ASSERT_TRUE(Put("a", body).status.ok());
  EXPECT_THAT(Follower().ConsumeAll(1), ElementsAre("insert a", "update a", "update a"));
  Reopen();
  for (const char* body : {"4", "5"}) ASSERT_TRUE(Put("a", body).status.ok());
  EXPECT_THAT(Follower().ConsumeAll(1), ElementsAre("update a", "update a"));
}

TEST_F(FeedTest, AFollowerWithoutImagesKeepsItsPlaceWhenOneWithImagesLeaves) {
  Follow({.name = "keys", .needs_after = false});
  Follow({.name = "documents"});
  ASSERT_TRUE(Put("a", "1").status.ok());
  ASSERT_TRUE(database_->followers().Drop("documents").ok());
  ASSERT_TRUE(Put("a", "2").status.ok());
  EXPECT_THAT(Follower("keys").ConsumeAll(), ElementsAre("insert a -> 1", "update a"));
}

TEST_F(FeedTest, ADroppedKeyspaceDoesNotDisturbTheOthers) {
  const KeyspaceId second = NewKeyspace("c");
  Follow({.name = "f", .keyspaces = {keyspace_, second}});
  ASSERT_TRUE(Put("a", "1").status.ok());
  ASSERT_TRUE(Apply(PutWrite(second, "x", Json("1"))).status.ok());
  ASSERT_TRUE(database_->admin().DropCollection({"b", "_default", "c"}).ok());
  ASSERT_TRUE(Put("a", "2").status.ok());
  EXPECT_THAT(Follower().ConsumeAll(1),
              ElementsAre("insert a -> 1", "insert x -> 1", "update a -> 2"));
  Reopen();
  ASSERT_TRUE(Put("a", "3").status.ok());
  ASSERT_TRUE(Put("a", "4").status.ok());
  EXPECT_THAT(Follower().ConsumeAll(1), ElementsAre("update a -> 3", "update a -> 4"));
}

TEST_F(FeedTest, FromEverythingBeginsWithWhatIsThere) {
  for (const char* key : {"a", "b", "c", "d"}) ASSERT_TRUE(Put(key, "1").status.ok());
  ASSERT_TRUE(Delete("b").status.ok());
  Follow({.start = Start::kEverything});
  ASSERT_TRUE(Put("c", "2").status.ok());
  ASSERT_TRUE(Put("e", "1").status.ok());
  // "c" comes from the log alone: it is newer than the follower.
  EXPECT_THAT(Follower().Consume(1), ElementsAre("insert a -> 1"));
  EXPECT_TRUE(Follower().cursor().backfilling);
  Reopen();
  ASSERT_TRUE(Put("0", "1").status.ok());  // before the place where the backfill stands
  EXPECT_THAT(Follower().ConsumeAll(1),
              ElementsAre("insert d -> 1", "update c -> 2", "insert e -> 1", "insert 0 -> 1"));
  EXPECT_FALSE(Follower().cursor().backfilling);
}

TEST_F(FeedTest, FromEverythingWhileWritersRun) {
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(Put(fmt::format("k{:03}", i), "0").status.ok());
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      const std::string key = fmt::format("k{:03}", (i * 37) % 700);
      ASSERT_TRUE((i % 5 == 4 ? Delete(key) : Put(key, std::to_string(i))).status.ok());
    }
  });
  Follow({.start = Start::kEverything});
  std::map<std::string, std::string> seen;
  const auto apply = [&](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      const size_t space = text.find(' ');
      const std::string operation = text.substr(0, space);
      const size_t arrow = text.find(" -> ");
      const std::string key = text.substr(space + 1, arrow - space - 1);
      // What was changed since the follower was made is first seen in the log.
      EXPECT_FALSE(operation == "insert" && seen.contains(key)) << text << " is given twice";
      if (operation == "delete") {
        seen.erase(key);
      } else {
        seen[key] = text.substr(arrow + 4);
      }
    }
  };
  for (int i = 0; i < 40; ++i) apply(Follower().Consume(50));
  stop = true;
  writer.join();
  apply(Follower().ConsumeAll());
  std::map<std::string, std::string> stored;
  ASSERT_TRUE(database_
                  ->Scan(keyspace_, {},
                         [&](std::string_view key, const DocumentView& document) {
                           stored[std::string(key)] = document.body;
                           return true;
                         })
                  .ok());
  EXPECT_EQ(seen, stored);
}

TEST_F(FeedTest, AnEventTakesEffectOnce) {
  const KeyspaceId out = NewKeyspace("out");
  Follow({});
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Put("k", std::to_string(i)).status.ok());
  const auto count = [&] {
    std::vector<Write> effects;
    effects.push_back(CounterWrite(out, "n", {.delta = 1, .initial = 1}));
    return effects;
  };
  const CursorState stale = Follower().cursor();
  EXPECT_EQ(Follower().Consume(1, count()).size(), 1u);
  const CursorState ahead = Follower().cursor();
  // Somebody with an old view of the cursor: neither the move nor its effects happen.
  EXPECT_EQ(Follower().Move(stale, ahead, count()).id(), "cursor.moved");
  EXPECT_EQ((*database_->Get(out, "n"))->body, "1");
  Reopen();
  while (!Follower().Consume(1, count()).empty()) {
  }
  EXPECT_EQ((*database_->Get(out, "n"))->body, "5");
  EXPECT_EQ(Follower().cursor().events, 5u);
}

TEST_F(FeedTest, LanesHaveTheirOwnCursors) {
  Follow({.name = "f", .lanes = 3});
  ASSERT_TRUE(Put("k", "1").status.ok());
  const CursorId lane1{"f", 0, 1};
  const CursorState before = *database_->followers().ReadCursor(lane1);
  CursorState after = before;
  after.position.sequence = Last();
  Commit commit;
  commit.cursor_moves.push_back({lane1, before, after});
  ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  EXPECT_EQ(*database_->followers().ReadCursor(lane1), after);
  EXPECT_EQ(*database_->followers().ReadCursor({"f", 0, 0}), before);
  EXPECT_EQ(*database_->followers().ReadCursor({"f", 0, 2}), before);
  EXPECT_EQ(database_->followers().ReadCursor({"f", 0, 3}).error().id(), "cursor.not_found");
  // The slowest lane holds the log.
  ASSERT_TRUE(database_->operations().TrimNow().ok());
  EXPECT_EQ(LogRows(), 1u);
}

TEST_F(FeedTest, TheLogIsTrimmedBelowTheLowestCursor) {
  Follow({.name = "slow"});
  Follow({.name = "fast"});
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(Put("k", std::to_string(i)).status.ok());
  EXPECT_EQ(Follower("fast").ConsumeAll().size(), 10u);
  EXPECT_EQ(Follower("slow").Consume(4).size(), 4u);
  ASSERT_TRUE(database_->operations().TrimNow().ok());
  EXPECT_EQ(LogRows(), 6u);
  Reopen();
  EXPECT_EQ(Follower("slow").ConsumeAll().size(), 6u);
}

TEST_F(FeedTest, AFollowerOfAQuietKeyspaceNeedNotHoldTheLog) {
  const KeyspaceId quiet = NewKeyspace("quiet");
  Follow({.name = "busy"});
  Follow({.name = "quiet", .keyspaces = {quiet}});
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(Put("k", std::to_string(i)).status.ok());
  EXPECT_EQ(Follower("busy").ConsumeAll().size(), 10u);
  EXPECT_THAT(Follower("quiet").Consume(), IsEmpty());  // stores how far it has looked
  ASSERT_TRUE(database_->operations().TrimNow().ok());
  EXPECT_EQ(LogRows(), 0u);
  ASSERT_TRUE(Apply(PutWrite(quiet, "q", Json("1"))).status.ok());
  EXPECT_THAT(Follower("quiet").Consume(), ElementsAre("insert q -> 1"));
}

class ShardedFeedTest : public FeedTest {
 protected:
  ShardedFeedTest() { options_.shards = 2; }
};

// Its cursor in the other shard never moves.
TEST_F(ShardedFeedTest, AFollowerOfATableHoldsWhatIsInTheShardOfTablesOnly) {
  ASSERT_TRUE(database_->admin().CreateTable({.name = "t", .columns = {{.name = "i"}}}).ok());
  const auto table = database_->catalog()->FindTable("t");
  ASSERT_NE(table, nullptr);
  Follow({.name = "of table", .keyspaces = {table->id}});
  Follow({.name = "of documents"});
  std::set<std::string> held;
  constexpr int kKeys = 10;
  for (int i = 0; i < kKeys; ++i) {
    const std::string key = "k" + std::to_string(i);
    if (database_->ShardOfKey(key) == kTablesShard) held.insert(key);
    ASSERT_TRUE(Put(key, "1").status.ok());
    ASSERT_TRUE(Delete(key).status.ok());
  }
  ASSERT_TRUE(!held.empty() && held.size() < kKeys);
  EXPECT_EQ(LogRows(), 2u * kKeys);
  ASSERT_TRUE(database_->followers().Drop("of documents").ok());
  ASSERT_TRUE(database_->operations().TrimNow().ok());
  EXPECT_EQ(LogRows(), 2 * held.size());
  clock_.AdvanceMs(options_.tombstone_retention_ms + 1);
  ASSERT_TRUE(database_->operations().ExpireNow());
  std::set<std::string> tombstones;
  ASSERT_TRUE(database_
                  ->Scan(keyspace_, {.with_tombstones = true},
                         [&](std::string_view key, const DocumentView&) {
                           tombstones.emplace(key);
                           return true;
                         })
                  .ok());
  EXPECT_EQ(tombstones, held);
}

// --- followers that do not hold the log ---------------------------------------------------------

TEST_F(FeedTest, FallingBehindTheTrimmedLogGivesDeduplicatedHistory) {
  options_.log_retention_ms = 1000;
  Reopen();
  for (const char* key : {"a", "b", "c"}) ASSERT_TRUE(Put(key, "0").status.ok());
  Follow({.name = "f", .holds_log = false});
  ASSERT_TRUE(Put("a", "1").status.ok());
  EXPECT_THAT(Follower().ConsumeAll(), ElementsAre("update a -> 1"));
  ASSERT_TRUE(Put("a", "2").status.ok());
  ASSERT_TRUE(Put("a", "3").status.ok());
  ASSERT_TRUE(Delete("b").status.ok());
  ASSERT_TRUE(Put("d", "1").status.ok());
  ASSERT_TRUE(database_->operations().TrimNow().ok());
  EXPECT_EQ(LogRows(), 5u);  // within the retention time
  clock_.AdvanceMs(1001);
  ASSERT_TRUE(database_->operations().TrimNow().ok());
  EXPECT_EQ(LogRows(), 0u);
  ASSERT_TRUE(Put("c", "4").status.ok());
  EXPECT_THAT(Follower().Consume(1), ElementsAre("update a -> 3"));
  Reopen();  // in the middle of catching up
  EXPECT_THAT(Follower().ConsumeAll(1), ElementsAre("delete b", "update c -> 4", "update d -> 1"));
  ASSERT_TRUE(Put("a", "5").status.ok());
  EXPECT_THAT(Follower().ConsumeAll(), ElementsAre("update a -> 5"));
}

TEST_F(FeedTest, APlaceWithinATrimmedCommitLosesNothing) {
  options_.log_retention_ms = 1000;
  Reopen();
  Follow({.name = "f", .holds_log = false});
  Commit commit;
  for (const char* key : {"a", "b", "c"}) {
    commit.writes.push_back(PutWrite(keyspace_, key, Json("1")));
  }
  ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  EXPECT_THAT(Follower().Consume(1), ElementsAre("insert a -> 1"));
  ASSERT_TRUE(database_->operations().TrimNow().ok());
  clock_.AdvanceMs(1001);
  ASSERT_TRUE(database_->operations().TrimNow().ok());
  EXPECT_EQ(LogRows(), 0u);
  // Of a commit that was read in part, all is given again.
  EXPECT_THAT(Follower().ConsumeAll(),
              ElementsAre("update a -> 1", "update b -> 1", "update c -> 1"));
}

// What a client had of a commit when the server stopped does not come again.
TEST_F(FeedTest, ARestartWithinACommitRepeatsNothing) {
  options_.log_retention_ms = 1000;
  Reopen();
  auto token = *database_->followers().FollowTransiently(keyspace_);
  CursorState at = *StartAfter(Last());
  Commit commit;
  for (const char* key : {"c", "b", "a"}) {
    commit.writes.push_back(PutWrite(keyspace_, key, Json("1")));
  }
  ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  {
    Feed feed(*database_, 0, {keyspace_}, at);
    ASSERT_EQ(*feed.Read(1, [](const Change&) { return true; }), 1u);
    at = feed.state();
  }
  token.reset();
  Reopen();
  ASSERT_TRUE(database_->operations().TrimNow().ok());  // the log is kept for those who come back
  ASSERT_TRUE(Put("a", "2").status.ok());               // not logged: nobody follows
  token = *database_->followers().FollowTransiently(keyspace_);
  ASSERT_TRUE(Put("d", "1").status.ok());
  {
    Feed feed(*database_, 0, {keyspace_}, at);
    EXPECT_THAT(Drain(feed),
                ElementsAre("insert b -> 1", "insert a -> 1", "update a -> 2", "update d -> 1"));
  }
  {
    // One by one, going on from the place of the last change each time.
    std::vector<std::string> texts;
    for (size_t read = 1; read != 0;) {
      Feed feed(*database_, 0, {keyspace_}, at);
      read = *feed.Read(1, [&](const Change& change) {
        texts.push_back(TextOf(change));
        return true;
      });
      at = feed.state();
    }
    EXPECT_THAT(texts,
                ElementsAre("insert b -> 1", "insert a -> 1", "update a -> 2", "update d -> 1"));
  }
}

TEST_F(FeedTest, TheLogOfAnEarlierProcessIsTrimmedInTheEnd) {
  options_.log_retention_ms = 1000;
  Reopen();
  auto token = *database_->followers().FollowTransiently(keyspace_);
  ASSERT_TRUE(Put("a", "1").status.ok());
  token.reset();
  Reopen();
  ASSERT_TRUE(database_->operations().TrimNow().ok());
  EXPECT_EQ(LogRows(), 1u);
  clock_.AdvanceMs(1001);
  ASSERT_TRUE(database_->operations().TrimNow().ok());
  EXPECT_EQ(LogRows(), 0u);
}

TEST_F(FeedTest, TransientFollowersReadTheLogWhileItIsThere) {
  ASSERT_TRUE(Put("a", "0").status.ok());
  auto token = *database_->followers().FollowTransiently(keyspace_);
  const Sequence joined = Last();
  ASSERT_TRUE(Put("a", "1").status.ok());
  ASSERT_TRUE(Put("a", "2").status.ok());
  {
    Feed feed(*database_, 0, {keyspace_}, *StartAfter(joined));
    EXPECT_THAT(Drain(feed), ElementsAre("update a -> 1", "update a -> 2"));
    ASSERT_TRUE(Put("b", "1").status.ok());
    EXPECT_THAT(Drain(feed), ElementsAre("insert b -> 1"));
  }
  // From before the keyspace was logged: what it is now.
  Feed early(*database_, 0, {keyspace_}, *StartAfter(1));
  EXPECT_THAT(Drain(early), ElementsAre("update a -> 2", "update b -> 1"));
  Feed everything(*database_, 0, {keyspace_}, *StartAfter(0));
  EXPECT_THAT(Drain(everything), ElementsAre("insert a -> 2", "insert b -> 1"));
}

// Nothing given means that there is nothing, also after a call that stopped before the end.
TEST_F(FeedTest, SeesWhatWasCommittedAfterItStoppedEarly) {
  auto token = *database_->followers().FollowTransiently(keyspace_);
  Feed feed(*database_, 0, {keyspace_}, *StartAfter(Last()));
  std::string keys;
  const auto read_one = [&] {
    return *feed.Read(1, [&](const Change& change) {
      keys += change.key;
      return true;
    });
  };
  ASSERT_TRUE(Put("a", "1").status.ok());
  EXPECT_EQ(read_one(), 1u);
  ASSERT_TRUE(Put("b", "1").status.ok());
  EXPECT_EQ(read_one(), 1u);
  EXPECT_EQ(read_one(), 0u);
  EXPECT_EQ(keys, "ab");
}

TEST_F(FeedTest, TransientLoggingEndsSomeTimeAfterTheLastClient) {
  options_.log_retention_ms = 1000;
  Reopen();
  auto first = *database_->followers().FollowTransiently(keyspace_);
  auto second = *database_->followers().FollowTransiently(keyspace_);
  const Sequence joined = Last();
  first.reset();
  second.reset();
  ASSERT_TRUE(database_->operations().TrimNow().ok());
  ASSERT_TRUE(Put("a", "1").status.ok());
  EXPECT_EQ(LogRows(), 1u);
  EXPECT_TRUE(database_->followers().LogCovers(keyspace_, 0, joined));
  clock_.AdvanceMs(1001);
  ASSERT_TRUE(database_->operations().TrimNow().ok());
  EXPECT_FALSE(database_->followers().LogCovers(keyspace_, 0, joined));
  ASSERT_TRUE(Put("a", "2").status.ok());
  // Coming back later: what was not logged is not missed.
  auto again = *database_->followers().FollowTransiently(keyspace_);
  ASSERT_TRUE(Put("b", "1").status.ok());
  Feed feed(*database_, 0, {keyspace_}, *StartAfter(joined));
  EXPECT_THAT(Drain(feed), ElementsAre("update a -> 2", "update b -> 1"));
}

TEST_F(FeedTest, ATokenMayOutliveTheDatabase) {
  auto token = *database_->followers().FollowTransiently(keyspace_);
  EXPECT_EQ(database_->followers().FollowTransiently(999).error().id(), "keyspace.not_found");
  database_.reset();
  token.reset();
}

TEST_F(FeedTest, HistoryIsGoneWhenTombstonesAre) {
  ASSERT_TRUE(Put("a", "1").status.ok());
  ASSERT_TRUE(Put("b", "1").status.ok());
  const Sequence before = Last();
  ASSERT_TRUE(Delete("a").status.ok());
  auto token = *database_->followers().FollowTransiently(keyspace_);
  Feed slow(*database_, 0, {keyspace_}, *StartAfter(before));
  EXPECT_EQ(*slow.Read(1, [](const Change&) { return true; }), 1u);
  clock_.AdvanceMs(options_.tombstone_retention_ms + 1);
  ASSERT_TRUE(database_->operations().ExpireNow());
  EXPECT_EQ(StartAfter(before).error().id(), "feed.history_gone");
  // One that is in the middle of such a history learns of it too.
  EXPECT_EQ(slow.Read(1, [](const Change&) { return true; }).error().id(), "feed.history_gone");
  EXPECT_TRUE(StartAfter(0));
}

TEST_F(FeedTest, FlushingAKeyspaceEndsItsHistory) {
  ASSERT_TRUE(Put("a", "1").status.ok());
  const Sequence before = Last();
  ASSERT_TRUE(database_->admin().FlushCollection({.bucket = "b"}).ok());
  EXPECT_EQ(Get("a"), "-");
  auto token = *database_->followers().FollowTransiently(keyspace_);
  EXPECT_EQ(StartAfter(before).error().id(), "feed.history_gone");
}

TEST_F(FeedTest, TombstonesStayForDurableFollowers) {
  options_.log_retention_ms = 1000;
  Reopen();
  ASSERT_TRUE(Put("a", "1").status.ok());
  Follow({.name = "f", .holds_log = false});
  ASSERT_TRUE(Delete("a").status.ok());
  ASSERT_TRUE(database_->operations().TrimNow().ok());
  clock_.AdvanceMs(options_.tombstone_retention_ms + 1);
  ASSERT_TRUE(database_->operations().TrimNow().ok());
  ASSERT_TRUE(database_->operations().ExpireNow());
  PinnedDocument row;
  EXPECT_TRUE(*database_->GetRow(keyspace_, "a", &row));
  EXPECT_THAT(Follower().ConsumeAll(), ElementsAre("delete a"));
  EXPECT_THAT(Follower().Consume(), IsEmpty());
  clock_.AdvanceMs(60'001);
  ASSERT_TRUE(database_->operations().ExpireNow());
  EXPECT_FALSE(*database_->GetRow(keyspace_, "a", &row));
}

// --- what a change says -------------------------------------------------------------------------

TEST_F(FeedTest, ExpiryIsSeenAsSuch) {
  Follow({.name = "f", .needs_before = true});
  const uint64_t soon = clock_.WallMs() + 10;
  ASSERT_TRUE(Apply(PutWrite(keyspace_, "a", Json("1", soon))).status.ok());
  ASSERT_TRUE(Apply(PutWrite(keyspace_, "b", Json("1", soon))).status.ok());
  clock_.AdvanceMs(10);
  // Written again before the expirer came: it expired first.
  ASSERT_TRUE(Put("b", "2", Precondition::Absent()).status.ok());
  EXPECT_EQ(*database_->operations().ExpireNow(), 1u);
  EXPECT_THAT(Follower().ConsumeAll(), ElementsAre("insert a -> 1", "insert b -> 1", "expire b 1",
                                                   "insert b -> 2", "expire a 1"));
}

TEST_F(FeedTest, ChangesCarryOriginTimeAndPosition) {
  auto token = *database_->followers().FollowTransiently(keyspace_);
  const CursorState start = *StartAfter(Last());
  Commit commit;
  commit.origin = "function:x";
  commit.writes.push_back(PutWrite(keyspace_, "a", Json("1")));
  commit.writes.push_back(PutWrite(keyspace_, "a", Json("2")));
  commit.writes.push_back(PutWrite(keyspace_, "anonymous", Json("3")));
  commit.writes.back().anonymous = true;
  std::vector<KeyspaceId> told;
  auto listener = database_->followers().OnCommitted(
      0, [&](const Committed& group) { told = group.keyspaces; });
  const CommitResult result = database_->Apply(std::move(commit));
  ASSERT_TRUE(result.status.ok());
  listener.reset();
  EXPECT_EQ(told, std::vector<KeyspaceId>{keyspace_});
  Feed feed(*database_, 0, {keyspace_}, start);
  uint32_t n = 0;
  ASSERT_TRUE(feed.Read(10, [&](const Change& change) {
    EXPECT_EQ(change.origin, change.key == "anonymous" ? "" : "function:x");
    EXPECT_EQ(change.time_ms, clock_.WallMs());
    EXPECT_EQ(change.sequence, result.sequence);
    EXPECT_EQ(change.cas, result.writes[n].cas);
    EXPECT_EQ(change.n, n++);
    return true;
  }));
  EXPECT_EQ(n, 3u);
}

TEST_F(FeedTest, RefusesBadFollowers) {
  EXPECT_EQ(database_->followers().Create({.name = "f"}).id(), "follower.no_keyspaces");
  EXPECT_EQ(database_->followers().Create({.name = "", .keyspaces = {keyspace_}}).id(),
            "follower.invalid_name");
  EXPECT_EQ(database_->followers().Create({.name = "f", .keyspaces = {999}}).id(),
            "keyspace.not_found");
  EXPECT_EQ(database_->followers().Create({.name = "f", .keyspaces = {keyspace_}, .lanes = 0}).id(),
            "follower.invalid_lanes");
  Follow({});
  EXPECT_EQ(database_->followers().Create({.name = "f", .keyspaces = {keyspace_}}).id(),
            "follower.exists");
  EXPECT_EQ(database_->followers().Drop("g").id(), "follower.not_found");
  ASSERT_TRUE(database_->followers().Drop("f").ok());
  EXPECT_EQ(database_->followers().ReadCursor({"f", 0, 0}).error().id(), "cursor.not_found");
}

}  // namespace
}  // namespace sluice::db
