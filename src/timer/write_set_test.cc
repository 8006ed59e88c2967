#include "timer/write_set.h"

#include "db/test_database.h"
#include "timer/owned.h"

namespace sluice::timer {
namespace {

class WriteSetTest : public db::DatabaseTest {
 protected:
  Timer Make(const std::string& reference, uint64_t due_ms, const std::string& context = "") {
    return {"cb", reference, {due_ms, database_->NewCas()}, context};
  }
  Status Commit(WriteSet& write_set) {
    db::Commit commit;
    write_set.MoveTo(&commit);
    rows_ = commit.rows.size();
    return database_->Apply(std::move(commit)).status;
  }
  void Store(const Timer& timer, const std::string& owner = "f") {
    WriteSet write_set(*database_, owner);
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

TEST_F(WriteSetTest, CreatesReplacesAndCancels) {
  Store(Make("a", 20, "1"));
  Store(Make("b", 10, "2"));
  EXPECT_EQ(All(), "b@10:2 a@20:1 ");
  Store(Make("a", 5, "3"));
  EXPECT_EQ(All(), "a@5:3 b@10:2 ");
  EXPECT_EQ(rows_, 3u) << "the old row by due time, the new one, and the name";

  WriteSet write_set(*database_, "f");
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

TEST_F(WriteSetTest, ABatchSeesItsOwnChanges) {
  WriteSet write_set(*database_, "f");
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

TEST_F(WriteSetTest, ATimerIsTakenOnce) {
  const Timer timer = Make("a", 10, "1");
  Store(timer);
  WriteSet first(*database_, "f");
  WriteSet second(*database_, "f");
  EXPECT_EQ(**first.Take(timer.moment), timer);
  EXPECT_FALSE(*first.Take(timer.moment));
  EXPECT_FALSE(*first.Cancel("cb", "a"));
  EXPECT_EQ(**second.Take(timer.moment), timer);
  ASSERT_TRUE(Commit(first).ok());
  EXPECT_EQ(Commit(second).id(), "row.changed");
  EXPECT_FALSE(*second.Take(timer.moment));
  EXPECT_EQ(All(), "");
}

TEST_F(WriteSetTest, ChangesOfTheSameTimerConflict) {
  const Timer timer = Make("a", 10, "1");
  Store(timer);
  WriteSet replace(*database_, "f");
  WriteSet cancel(*database_, "f");
  WriteSet take(*database_, "f");
  ASSERT_TRUE(replace.Create(Make("a", 11, "2")).ok());
  EXPECT_TRUE(*cancel.Cancel("cb", "a"));
  EXPECT_TRUE(*take.Take(timer.moment));
  ASSERT_TRUE(Commit(replace).ok());
  EXPECT_EQ(Commit(cancel).code(), Code::kConflict);
  EXPECT_EQ(Commit(take).code(), Code::kConflict);
  EXPECT_EQ(All(), "a@11:2 ");
  EXPECT_FALSE(*take.Take(timer.moment)) << "a replaced timer is not run";

  WriteSet one(*database_, "f");
  WriteSet other(*database_, "f");
  ASSERT_TRUE(one.Create(Make("new", 1)).ok());
  ASSERT_TRUE(other.Create(Make("new", 2)).ok());
  ASSERT_TRUE(Commit(one).ok());
  EXPECT_EQ(Commit(other).code(), Code::kConflict);
}

TEST_F(WriteSetTest, RollsBackToASavepoint) {
  const Timer stored = Make("a", 10, "1");
  Store(stored);
  WriteSet write_set(*database_, "f");
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

TEST_F(WriteSetTest, SurvivesAndBelongsToItsOwner) {
  Store(Make("a", 10), "f");
  Store(Make("b", 20), "f");
  Store(Make("a", 30), "g");
  Reopen();
  EXPECT_EQ(*Owners(*database_), (std::vector<std::string>{"f", "g"}));
  EXPECT_EQ(All("f"), "a@10: b@20: ");
  ASSERT_TRUE(DropOwner(*database_, "f").ok());
  EXPECT_EQ(All("f"), "");
  EXPECT_EQ(All("g"), "a@30: ");
  EXPECT_EQ(*Owners(*database_), std::vector<std::string>{"g"});
}

TEST_F(WriteSetTest, DropsMoreThanOneCommitTakes) {
  WriteSet write_set(*database_, "f");
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(write_set.Create(Make(std::to_string(i), 1)).ok());
  ASSERT_TRUE(Commit(write_set).ok());
  ASSERT_TRUE(DropOwner(*database_, "f").ok());
  EXPECT_TRUE(Owners(*database_)->empty());
}

}  // namespace
}  // namespace sluice::timer
