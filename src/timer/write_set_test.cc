#include "timer/write_set.h"

#include "db/test_database.h"
#include "timer/owned.h"

namespace sluice::timer {
namespace {

// With one shard, and with several: then in the last one.
class WriteSetTest : public db::DatabaseTest, public ::testing::WithParamInterface<uint16_t> {
 protected:
  WriteSetTest() { options_.shards = GetParam(); }
  db::ShardId Shard() const { return GetParam() - 1; }
  WriteSet Of(const std::string& owner = "f") const { return {*database_, Shard(), owner}; }
  Timer Make(const std::string& reference, uint64_t due_ms, const std::string& context = "") {
    return {"cb", reference, {due_ms, database_->NewCas(), Shard()}, context};
  }
  Status Commit(WriteSet& write_set) {
    db::Commit commit;
    commit.shard = Shard();
    write_set.MoveTo(&commit);
    rows_ = commit.rows.size();
    return database_->Apply(std::move(commit)).status;
  }
  void Store(const Timer& timer, const std::string& owner = "f") {
    WriteSet write_set = Of(owner);
    ASSERT_TRUE(write_set.Create(timer).ok());
    ASSERT_TRUE(Commit(write_set).ok());
  }
  // "reference@due:context" of all, in order.
  std::string All(const std::string& owner = "f") {
    std::string all;
    const Status visited = Visit(*database_, owner, {}, [&](const Timer& timer) {
      all += fmt::format("{}@{}:{} ", timer.reference, timer.moment.due_ms, timer.context);
      return true;
    });
    EXPECT_TRUE(visited.ok());
    return all;
  }

  size_t rows_ = 0;  // of the last commit
};

TEST_P(WriteSetTest, CreatesReplacesAndCancels) {
  Store(Make("a", 20, "1"));
  Store(Make("b", 10, "2"));
  EXPECT_EQ(All(), "b@10:2 a@20:1 ");
  Store(Make("a", 5, "3"));
  EXPECT_EQ(All(), "a@5:3 b@10:2 ");
  EXPECT_EQ(rows_, 3u) << "the old row by due time, the new one, and the name";

  WriteSet write_set = Of();
  EXPECT_TRUE(*write_set.Cancel("cb", "a"));
  EXPECT_FALSE(*write_set.Cancel("cb", "a"));
  EXPECT_FALSE(*write_set.Cancel("other", "b"));
  EXPECT_EQ((*write_set.Find("cb", "b"))->context, "2");
  EXPECT_FALSE(*write_set.Find("cb", "a"));
  ASSERT_TRUE(Commit(write_set).ok());
  EXPECT_EQ(All(), "b@10:2 ");
  EXPECT_EQ(write_set.Create({"", "r", {1, 1}, ""}).id(), "timer.invalid_callback");
  EXPECT_EQ(write_set.Create({std::string("c\0d", 3), "r", {1, 1}, ""}).id(),
            "timer.invalid_callback");
}

TEST_P(WriteSetTest, ABatchSeesItsOwnChanges) {
  WriteSet write_set = Of();
  ASSERT_TRUE(write_set.Create(Make("a", 30)).ok());
  const Timer again = Make("a", 20, "2");
  ASSERT_TRUE(write_set.Create(again).ok());
  ASSERT_TRUE(write_set.Create(Make("b", 10)).ok());
  EXPECT_EQ(write_set.earliest_ms(), 10u);
  EXPECT_TRUE(*write_set.Cancel("cb", "b"));
  EXPECT_EQ(write_set.earliest_ms(), 20u);
  EXPECT_EQ(**write_set.Find("cb", "a"), again);
  ASSERT_TRUE(Commit(write_set).ok());
  EXPECT_EQ(rows_, 2u) << "what the batch made and removed leaves no rows";
  EXPECT_EQ(All(), "a@20:2 ");
  EXPECT_EQ(write_set.rows(), 0u);
}

TEST_P(WriteSetTest, ATimerIsTakenOnce) {
  const Timer timer = Make("a", 10, "1");
  Store(timer);
  WriteSet first = Of();
  WriteSet second = Of();
  EXPECT_EQ(**first.Take(timer.moment), timer);
  EXPECT_FALSE(*first.Take(timer.moment));
  EXPECT_FALSE(*first.Cancel("cb", "a"));
  EXPECT_EQ(**second.Take(timer.moment), timer);
  ASSERT_TRUE(Commit(first).ok());
  EXPECT_EQ(Commit(second).id(), "row.changed");
  EXPECT_FALSE(*second.Take(timer.moment));
  EXPECT_EQ(All(), "");
}

TEST_P(WriteSetTest, ChangesOfTheSameTimerConflict) {
  const Timer timer = Make("a", 10, "1");
  Store(timer);
  WriteSet replace = Of();
  WriteSet cancel = Of();
  WriteSet take = Of();
  ASSERT_TRUE(replace.Create(Make("a", 11, "2")).ok());
  EXPECT_TRUE(*cancel.Cancel("cb", "a"));
  EXPECT_TRUE(*take.Take(timer.moment));
  ASSERT_TRUE(Commit(replace).ok());
  EXPECT_EQ(Commit(cancel).code(), Code::kConflict);
  EXPECT_EQ(Commit(take).code(), Code::kConflict);
  EXPECT_EQ(All(), "a@11:2 ");
  EXPECT_FALSE(*take.Take(timer.moment)) << "a replaced timer is not run";

  WriteSet one = Of();
  WriteSet other = Of();
  ASSERT_TRUE(one.Create(Make("new", 1)).ok());
  ASSERT_TRUE(other.Create(Make("new", 2)).ok());
  ASSERT_TRUE(Commit(one).ok());
  EXPECT_EQ(Commit(other).code(), Code::kConflict);
}

TEST_P(WriteSetTest, RollsBackToASavepoint) {
  const Timer stored = Make("a", 10, "1");
  Store(stored);
  WriteSet write_set = Of();
  EXPECT_TRUE(*write_set.Take(stored.moment));
  const size_t bytes = write_set.bytes();
  const size_t savepoint = write_set.Savepoint();
  ASSERT_TRUE(write_set.Create(Make("a", 20)).ok());
  ASSERT_TRUE(write_set.Create(Make("a", 21)).ok());
  ASSERT_TRUE(write_set.Create(Make("b", 22)).ok());
  write_set.RollbackTo(savepoint);
  EXPECT_EQ(write_set.bytes(), bytes);
  EXPECT_FALSE(*write_set.Find("cb", "a")) << "it was taken before the savepoint";
  EXPECT_FALSE(*write_set.Find("cb", "b"));
  EXPECT_EQ(write_set.earliest_ms(), std::nullopt);
  ASSERT_TRUE(Commit(write_set).ok());
  EXPECT_EQ(All(), "");
}

TEST_P(WriteSetTest, SurvivesAndBelongsToItsOwner) {
  Store(Make("a", 10), "f");
  Store(Make("b", 20), "f");
  Store(Make("a", 30), "g");
  Reopen();
  EXPECT_EQ(*Owners(*database_), (std::vector<std::string>{"f", "g"}));
  EXPECT_EQ(All("f"), "a@10: b@20: ");
  ASSERT_TRUE(DropOwnerIn(*database_, Shard(), "f").ok());
  EXPECT_EQ(All("f"), "");
  EXPECT_EQ(All("g"), "a@30: ");
  EXPECT_EQ(*Owners(*database_), std::vector<std::string>{"g"});
}

TEST_P(WriteSetTest, DropsMoreThanOneCommitTakes) {
  WriteSet write_set = Of();
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(write_set.Create(Make(std::to_string(i), 1)).ok());
  ASSERT_TRUE(Commit(write_set).ok());
  ASSERT_TRUE(DropOwnerIn(*database_, Shard(), "f").ok());
  EXPECT_TRUE(Owners(*database_)->empty());
}

INSTANTIATE_TEST_SUITE_P(Shards, WriteSetTest, ::testing::Values(1, 4));

class ShardedTimersTest : public db::DatabaseTest {
 protected:
  ShardedTimersTest() { options_.shards = 4; }
  Status Store(db::ShardId shard, const std::string& owner, const std::string& reference,
               uint64_t due_ms, uint64_t id) {
    WriteSet write_set(*database_, shard, owner);
    RETURN_IF_ERROR(write_set.Create({"cb", reference, {due_ms, id}, ""}));
    db::Commit commit;
    commit.shard = shard;
    write_set.MoveTo(&commit);
    return database_->Apply(std::move(commit)).status;
  }
  // "reference/shard" of all from `from` on.
  std::vector<std::string> From(const Moment& from) {
    std::vector<std::string> all;
    EXPECT_TRUE(Visit(*database_, "f", from, [&](const Timer& timer) {
                  all.push_back(fmt::format("{}/{}", timer.reference, timer.moment.shard));
                  return true;
                }).ok());
    return all;
  }
};

TEST_F(ShardedTimersTest, AreVisitedInOneOrder) {
  using List = std::vector<std::string>;
  ASSERT_TRUE(Store(3, "f", "c", 20, 1).ok());
  ASSERT_TRUE(Store(1, "f", "a", 10, 1).ok());
  ASSERT_TRUE(Store(2, "f", "b", 10, 1).ok()) << "another owner's stamp may be the same";
  ASSERT_TRUE(Store(0, "f", "d", 20, 2).ok());
  ASSERT_TRUE(Store(0, "g", "other", 1, 3).ok());
  EXPECT_EQ(From({}), (List{"a/1", "b/2", "c/3", "d/0"}));
  EXPECT_EQ(From({10, 1, 2}), (List{"b/2", "c/3", "d/0"}));
  EXPECT_EQ(From({20, 1, 4}), List{"d/0"});
  EXPECT_EQ(*Owners(*database_), (List{"f", "g"}));
  ASSERT_TRUE(DropOwnerIn(*database_, 1, "f").ok());
  EXPECT_EQ(From({}), (List{"b/2", "c/3", "d/0"}));
  for (db::ShardId shard = 0; shard < 4; ++shard) {
    ASSERT_TRUE(DropOwnerIn(*database_, shard, "f").ok());
  }
  EXPECT_EQ(From({}), List{});
  EXPECT_EQ(*Owners(*database_), List{"g"});
}

TEST_F(ShardedTimersTest, AreWrittenInTheShardOfTheirCommit) {
  WriteSet write_set(*database_, 2, "f");
  ASSERT_TRUE(write_set.Create({"cb", "r", {1, 1}, ""}).ok());
  db::Commit commit;
  commit.shard = 1;
  write_set.MoveTo(&commit);
  EXPECT_EQ(database_->Apply(std::move(commit)).status.id(), "commit.cross_shard");
}

}  // namespace
}  // namespace sluice::timer
