// Rows of other modules: each belongs to a shard.
#include "db/rows.h"

#include "base/bytes.h"
#include "db/row_key.h"
#include "db/test_database.h"

namespace sluice::db {
namespace {

using Texts = std::vector<std::string>;

TEST(RowKeys, Golden) {
  EXPECT_EQ(ToHex(RowKey(0x0102, "k")), "01026b");
  EXPECT_EQ(ToHex(RowKey(3)), "0003");
  EXPECT_EQ(ToHex(ShardEnd(3)), "0004");
  EXPECT_EQ(ShardOfRow(RowKey(258, "k")), 258);
  EXPECT_EQ(KeyInShard(RowKey(258, "k")), "k");
}

class RowsTest : public DatabaseTest {
 protected:
  RowsTest() {
    options_.durability = Durability::kNone;
    options_.shards = 4;
  }
  Status Store(ShardId shard, const std::string& key, std::optional<std::string> value,
               std::optional<std::optional<std::string>> expected = std::nullopt) {
    Commit commit;
    commit.shard = shard;
    commit.rows.push_back({RowFamily::kRun, shard, key, std::move(value), std::move(expected)});
    return database_->Apply(std::move(commit)).status;
  }
  // "shard key=value" of all that the iterator gives.
  static Texts All(RowIterator& rows) {
    Texts all;
    for (; rows.Valid(); rows.Next()) {
      all.push_back(fmt::format("{} {}={}", rows.shard(), rows.key(), rows.value()));
    }
    EXPECT_TRUE(rows.status().ok());
    return all;
  }
  Texts In(ShardId shard, const RowRange& range = {}) {
    const auto rows = database_->rows().NewIterator(RowFamily::kRun, shard, range);
    rows->SeekToFirst();
    return All(*rows);
  }
  Texts InAll(const RowRange& range = {}) {
    const auto rows = database_->rows().NewIteratorOfAll(RowFamily::kRun, range);
    rows->SeekToFirst();
    return All(*rows);
  }
  std::string Value(ShardId shard, const std::string& key) {
    std::string value = "-";
    EXPECT_TRUE(database_->rows().Get(RowFamily::kRun, shard, key, &value));
    return value;
  }
};

TEST_F(RowsTest, BelongToTheirShard) {
  ASSERT_TRUE(Store(0, "a", "1").ok());
  ASSERT_TRUE(Store(2, "a", "2").ok());
  EXPECT_EQ(Value(0, "a"), "1");
  EXPECT_EQ(Value(1, "a"), "-");
  EXPECT_EQ(Value(2, "a"), "2");
  EXPECT_EQ(Store(1, "a", "x", {{"1"}}).id(), "row.changed") << "there is none in that shard";
  EXPECT_TRUE(Store(2, "a", "3", {{"2"}}).ok());
  ASSERT_TRUE(Store(0, "a", std::nullopt).ok());
  EXPECT_EQ(InAll(), Texts{"2 a=3"});
  Reopen();
  EXPECT_EQ(InAll(), Texts{"2 a=3"});
}

TEST_F(RowsTest, ACommitWritesRowsOfItsShardOnly) {
  Commit commit;
  commit.shard = 1;
  commit.rows.push_back({RowFamily::kRun, 1, "a", "1", std::nullopt});
  commit.rows.push_back({RowFamily::kTimer, 2, "a", "1", std::nullopt});
  const CommitResult result = database_->Apply(std::move(commit));
  EXPECT_EQ(result.status.id(), "commit.cross_shard") << result.status.ToString();
  EXPECT_EQ(InAll(), Texts{});
  // A row without a shard goes with its commit.
  Commit outbox;
  outbox.shard = 3;
  outbox.rows.push_back({RowFamily::kRun, std::nullopt, "a", "1", std::nullopt});
  ASSERT_TRUE(database_->Apply(std::move(outbox)).status.ok());
  EXPECT_EQ(InAll(), Texts{"3 a=1"});
}

TEST_F(RowsTest, AreIteratedInOneShardOrInAll) {
  for (const auto& [shard, key] : std::vector<std::pair<ShardId, std::string>>{
           {0, "b"}, {1, "a"}, {1, "d"}, {3, "b"}, {3, "c"}, {3, std::string("\xff\xff", 2)}}) {
    ASSERT_TRUE(Store(shard, key, std::to_string(shard)).ok());
  }
  EXPECT_EQ(In(1), (Texts{"1 a=1", "1 d=1"}));
  EXPECT_EQ(In(1, {.from = "b", .to = ""}), Texts{"1 d=1"});
  EXPECT_EQ(In(2), Texts{});
  EXPECT_EQ(InAll({.from = "", .to = "e"}), (Texts{"1 a=1", "0 b=0", "3 b=3", "3 c=3", "1 d=1"}));
  EXPECT_EQ(InAll({.from = "b", .to = "d"}), (Texts{"0 b=0", "3 b=3", "3 c=3"}));
  EXPECT_EQ(InAll({.from = "c"}).size(), 3u) << "an open end is that of the shard";
  EXPECT_EQ(InAll({.from = "b", .to = "d", .order = RowRange::Order::kReverse}),
            (Texts{"3 c=3", "0 b=0", "3 b=3"}));
  const auto rows = database_->rows().NewIteratorOfAll(RowFamily::kRun, {.from = "", .to = "e"});
  rows->Seek("bb");
  EXPECT_EQ(All(*rows), (Texts{"3 c=3", "1 d=1"}));
}

}  // namespace
}  // namespace sluice::db
