// Unique indexes of tables: which commits they refuse.
#include <atomic>
#include <latch>

#include <gtest/gtest.h>

#include "db/test_database.h"
#include "db/transaction.h"

namespace sluice::db {
namespace {

class Unique : public ::testing::Test {
 protected:
  void SetUp() override {
    DatabaseOptions options;
    options.shards = 4;
    auto database = Database::Open(directory_ / "data", options, clock_);
    ASSERT_TRUE(database) << database.error().ToString();
    database_ = std::move(*database);
    TableSchema schema{.name = "t", .columns = {{.name = "i"}}};
    schema.keys.push_back({.name = "k", .parts = {{.column = "i"}}, .unique = true});
    ASSERT_TRUE(database_->admin().CreateTable(schema).ok());
    table_ = database_->catalog()->FindTable("t")->id;
  }

  static Document Row(int i) {
    Document document;
    document.body = fmt::format("{{\"i\":{}}}", i);
    return document;
  }

  // One commit that puts these rows.
  Status Put(const std::vector<std::pair<std::string, int>>& rows) {
    Transaction transaction(*database_);
    for (const auto& [key, i] : rows) EXPECT_TRUE(transaction.Put(table_, key, Row(i)));
    return transaction.Apply().status;
  }

  const TestDirectory directory_;
  const FakeClock clock_;
  std::unique_ptr<Database> database_;
  KeyspaceId table_ = 0;
};

TEST_F(Unique, RefusesASecondRow) {
  ASSERT_TRUE(Put({{"a", 1}, {"b", 2}}).ok());
  EXPECT_EQ(Put({{"c", 1}}).id(), "table.duplicate");
  EXPECT_EQ(Put({{"c", 3}, {"d", 3}}).id(), "table.duplicate");
  EXPECT_TRUE(Put({{"a", 1}}).ok());
  EXPECT_EQ(*database_->CountDocuments(table_), 2u);
}

TEST_F(Unique, RowsMayExchangeTheirKeysInOneCommit) {
  ASSERT_TRUE(Put({{"a", 1}, {"b", 2}}).ok());
  EXPECT_TRUE(Put({{"a", 2}, {"b", 1}}).ok());
  EXPECT_EQ(Put({{"c", 1}}).id(), "table.duplicate");
}

TEST_F(Unique, AKeyIsFreeAfterItsRowIsGone) {
  ASSERT_TRUE(Put({{"a", 1}}).ok());
  Transaction transaction(*database_);
  ASSERT_TRUE(transaction.Delete(table_, "a").ok());
  ASSERT_TRUE(transaction.Put(table_, "b", Row(1)));
  EXPECT_TRUE(transaction.Apply().status.ok());
  EXPECT_EQ(Put({{"c", 1}}).id(), "table.duplicate");
}

// Commits of one group see each other: the second of many that want the same key is refused.
TEST_F(Unique, HoldsWithinAGroup) {
  constexpr int kWriters = 32;
  std::atomic<int> accepted = 0;
  std::latch answered(kWriters);
  for (int writer = 0; writer < kWriters; ++writer) {
    Commit commit;
    commit.writes.push_back(PutWrite(table_, std::to_string(writer), Row(7)));
    database_->Submit(std::move(commit), [&](CommitResult result) {
      if (result.status.ok()) ++accepted;
      answered.count_down();
    });
  }
  answered.wait();
  EXPECT_EQ(accepted, 1);
}

TEST_F(Unique, AnIndexOverDuplicatesIsNotMade) {
  ASSERT_TRUE(database_->admin().CreateTable({.name = "u", .columns = {{.name = "i"}}}).ok());
  table_ = database_->catalog()->FindTable("u")->id;
  ASSERT_TRUE(Put({{"a", 1}, {"b", 1}}).ok());
  IndexDefinition definition{.name = "k", .parts = {{.path = "i"}}};
  definition.unique = true;
  EXPECT_EQ(database_->admin().CreateIndex(TableKeyspace("u"), definition).id(), "table.duplicate");
  EXPECT_TRUE(database_->catalog()->FindTable("u")->indexes.empty());
}

}  // namespace
}  // namespace sluice::db
