#include "db/expiry.h"

#include "db/database_impl.h"
#include "db/test_database.h"
#include "db/test_follower.h"
#include "db/test_formats.h"

namespace sluice::db {
namespace {

TEST(ExpiryFormat, Golden) {
  const std::string key = ExpiryKey(1000, DocumentKey(1, 2, "k"));
  EXPECT_EQ(ToHex(key), "000100000000000003e8000000026b");
  EXPECT_EQ(ExpiryValue(ExpiryKind::kDocument), "d");
  EXPECT_EQ(ExpiryValue(ExpiryKind::kTombstone), "t");
  const ExpiryRow row = *DecodeExpiryRow(key, "t");
  EXPECT_EQ(row.due_ms, 1000u);
  EXPECT_EQ(row.kind, ExpiryKind::kTombstone);
  EXPECT_EQ(row.shard, 1u);
  EXPECT_EQ(row.keyspace, 2u);
  EXPECT_EQ(row.key, "k");
  EXPECT_EQ(row.DocumentRowKey(), DocumentKey(1, 2, "k"));
  EXPECT_EQ(ToHex(ExpiryKeyFrom(1, 1000)), "000100000000000003e8");
  for (size_t size = 0; size < 14; ++size) {
    EXPECT_EQ(DecodeExpiryRow(key.substr(0, size), "d").error().id(), "expiry.corrupt");
  }
  EXPECT_EQ(DecodeExpiryRow(key, "x").error().id(), "expiry.corrupt");
  EXPECT_EQ(DecodeExpiryRow(key, "").error().id(), "expiry.corrupt");
}

class ExpiryTest : public DatabaseTest, public ::testing::WithParamInterface<uint16_t> {
 protected:
  ExpiryTest() {
    options_.durability = Durability::kNone;
    options_.shards = GetParam();
  }
  CommitResult PutFor(const std::string& key, uint64_t ms, KeyspaceId keyspace = 0) {
    return Apply(
        PutWrite(keyspace == 0 ? keyspace_ : keyspace, key, Json("1", clock_.WallMs() + ms)));
  }
  size_t ExpiryRows() {
    size_t rows = 0;
    const auto iterator = StoreOf(*database_).NewIterator(storage::Family::kExpiry, {});
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) ++rows;
    return rows;
  }
};

TEST_P(ExpiryTest, TouchMovesOrClearsTheExpiry) {
  ASSERT_TRUE(PutFor("a", 10).status.ok());
  ASSERT_TRUE(PutFor("b", 10).status.ok());
  const Cas before = (*database_->Get(keyspace_, "a"))->cas;
  const CommitResult touched = Apply(TouchWrite(keyspace_, "a", clock_.WallMs() + 100));
  ASSERT_TRUE(touched.status.ok());
  EXPECT_GT(touched.writes[0].cas, before);
  ASSERT_TRUE(Apply(TouchWrite(keyspace_, "b", 0)).status.ok());
  clock_.AdvanceMs(10);
  EXPECT_EQ(*database_->operations().ExpireNow(), 0u);
  EXPECT_EQ(Get("a"), "1");
  clock_.AdvanceMs(90);
  EXPECT_EQ(Get("a"), "-");
  EXPECT_EQ(Apply(TouchWrite(keyspace_, "a", 0)).status.id(), "document.not_found");
  EXPECT_EQ(*database_->operations().ExpireNow(), 1u);
  EXPECT_EQ(Get("b"), "1");
}

TEST_P(ExpiryTest, KeepExpiryKeepsIt) {
  ASSERT_TRUE(PutFor("a", 10).status.ok());
  Write write = PutWrite(keyspace_, "a", Json("2"));
  write.keep_expiry = true;
  ASSERT_TRUE(Apply(std::move(write)).status.ok());
  clock_.AdvanceMs(10);
  EXPECT_EQ(Get("a"), "-");
}

TEST_P(ExpiryTest, ACollectionsLimitHolds) {
  ASSERT_TRUE(database_->admin().CreateCollection({"b", "_default", "c"}, 50).ok());
  const KeyspaceId limited = *database_->Resolve({"b", "_default", "c"});
  ASSERT_TRUE(Apply(PutWrite(limited, "never", Json("1"))).status.ok());
  ASSERT_TRUE(PutFor("late", 1000, limited).status.ok());
  ASSERT_TRUE(PutFor("soon", 10, limited).status.ok());
  const uint64_t now = clock_.WallMs();
  EXPECT_EQ((*database_->Get(limited, "never"))->expiry_ms, now + 50);
  EXPECT_EQ((*database_->Get(limited, "late"))->expiry_ms, now + 50);
  EXPECT_EQ((*database_->Get(limited, "soon"))->expiry_ms, now + 10);
  ASSERT_TRUE(Apply(TouchWrite(limited, "soon", 0)).status.ok());
  EXPECT_EQ((*database_->Get(limited, "soon"))->expiry_ms, now + 50);
}

TEST_P(ExpiryTest, ACollectionsLimitCanBeChanged) {
  const KeyspaceName name{"b", "_default", "c"};
  ASSERT_TRUE(database_->admin().CreateCollection(name, 50).ok());
  ASSERT_TRUE(database_->admin().CreateIndex(name, {.name = "i", .parts = {{.path = "x"}}}).ok());
  const KeyspaceId limited = *database_->Resolve(name);
  const uint64_t now = clock_.WallMs();
  const auto expiry = [&](const std::string& key) {
    EXPECT_TRUE(Apply(PutWrite(limited, key, Json("1"))).status.ok());
    return (*database_->Get(limited, key))->expiry_ms;
  };
  EXPECT_EQ(expiry("a"), now + 50);
  ASSERT_TRUE(database_->admin().SetMaxExpiry(name, 100).ok());
  EXPECT_EQ(expiry("b"), now + 100);
  Reopen();
  EXPECT_EQ(*database_->Resolve(name), limited);
  EXPECT_EQ((*database_->catalog()->Resolve(name))->indexes.size(), 1u);
  EXPECT_EQ(expiry("c"), now + 100);
  ASSERT_TRUE(database_->admin().SetMaxExpiry(name, 0).ok());
  EXPECT_EQ(expiry("d"), 0u);
  EXPECT_EQ((*database_->Get(limited, "a"))->expiry_ms, now + 50);
  EXPECT_EQ(database_->admin().SetMaxExpiry({"b", "_default", "none"}, 0).id(),
            "collection.not_found");
}

TEST_P(ExpiryTest, ManyAtOnceAreCountedOnce) {
  for (int i = 0; i < 600; ++i) ASSERT_TRUE(PutFor(fmt::format("k{}", i), 10).status.ok());
  clock_.AdvanceMs(10);
  EXPECT_EQ(*database_->operations().ExpireNow(), 600u);
  EXPECT_EQ(database_->operations().Stats().expired, 600u);
  EXPECT_EQ(*database_->operations().ExpireNow(), 0u);
  EXPECT_EQ(ExpiryRows(), 600u);  // of the tombstones
  clock_.AdvanceMs(options_.tombstone_retention_ms);
  EXPECT_EQ(*database_->operations().ExpireNow(), 0u);
  EXPECT_EQ(ExpiryRows(), 0u);
}

TEST_P(ExpiryTest, RowsOfADroppedKeyspaceGo) {
  ASSERT_TRUE(database_->admin().CreateCollection({"b", "_default", "c"}).ok());
  const KeyspaceId dropped = *database_->Resolve({"b", "_default", "c"});
  ASSERT_TRUE(PutFor("a", 10, dropped).status.ok());
  ASSERT_TRUE(PutFor("b", 10, dropped).status.ok());
  ASSERT_TRUE(Apply(DeleteWrite(dropped, "b")).status.ok());
  ASSERT_TRUE(PutFor("kept", 10).status.ok());
  ASSERT_TRUE(database_->admin().DropCollection({"b", "_default", "c"}).ok());
  clock_.AdvanceMs(options_.tombstone_retention_ms + 10);
  EXPECT_EQ(*database_->operations().ExpireNow(), 1u);
  EXPECT_EQ(ExpiryRows(), 1u);  // the tombstone of "kept"
}

TEST_P(ExpiryTest, TheBackgroundDoesIt) {
  database_.reset();
  options_.expiry_interval_ms = 50;
  const SystemClock real;
  auto opened = Database::Open(directory_ / "data", options_, real);
  ASSERT_TRUE(opened);
  Commit commit;
  commit.shard = (*opened)->ShardOf(keyspace_, "k");
  commit.writes.push_back(PutWrite(keyspace_, "k", Json("1", real.WallMs() + 20)));
  ASSERT_TRUE((*opened)->Apply(std::move(commit)).status.ok());
  PinnedDocument row;
  AwaitCommitted(**opened, [&] {
    CHECK(*(*opened)->GetRow(keyspace_, "k", &row));
    return row->tombstone;
  });
  EXPECT_TRUE(row->expired);
}

// The sweep of one shard does not touch the rows of the others.
TEST_P(ExpiryTest, EveryShardHasItsOwnRows) {
  std::vector<size_t> documents(GetParam());
  for (int i = 0; i < 40; ++i) {
    const std::string key = fmt::format("k{}", i);
    ASSERT_TRUE(PutFor(key, 10).status.ok());
    ++documents[database_->ShardOf(keyspace_, key)];
  }
  for (ShardId shard = 0; shard < GetParam(); ++shard) {
    EXPECT_GT(documents[shard], 0u);
    const auto rows = database_->rows().NewIterator(RowFamily::kExpiry, shard);
    size_t count = 0;
    for (rows->SeekToFirst(); rows->Valid(); rows->Next()) ++count;
    EXPECT_EQ(count, documents[shard]);
  }
  ASSERT_TRUE(PutFor("k7", 5).status.ok());
  const uint64_t now_ms = clock_.WallMs();
  EXPECT_EQ(*database_->operations().NextExpiryMs(0), now_ms + 5);
  EXPECT_EQ(*database_->operations().NextExpiryMs(now_ms + 6), now_ms + 10);
  EXPECT_EQ(*database_->operations().NextExpiryMs(now_ms + 11), UINT64_MAX);
  clock_.AdvanceMs(10);
  EXPECT_EQ(*database_->operations().ExpireNow(), 40u);
}

INSTANTIATE_TEST_SUITE_P(Shards, ExpiryTest, ::testing::Values(1, 4));

}  // namespace
}  // namespace sluice::db
