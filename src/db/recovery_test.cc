// What opening a database finds after a crash between two steps, or after damage. The steps are
// undone or half done by hand, in the store itself.
#include <fstream>

#include <gmock/gmock.h>

#include "base/bytes.h"
#include "db/catalog_rows.h"
#include "db/database_impl.h"
#include "db/directory.h"
#include "db/group.h"
#include "db/row_key.h"
#include "db/test_database.h"
#include "db/test_follower.h"

namespace sluice::db {
namespace {

using storage::Family;

class RecoveryTest : public DatabaseTest {
 protected:
  RecoveryTest() {
    options_.durability = Durability::kNone;
    options_.shards = 3;
  }
  // Changes rows while the database is closed.
  void Edit(const std::function<void(storage::Batch&)>& change) {
    database_.reset();
    {
      const auto store = std::move(*storage::Store::Open(StorePath(directory_ / "data"), {}));
      storage::Batch batch;
      change(batch);
      ASSERT_TRUE(store->Write(&batch, storage::Sync::kYes).ok());
    }
    Open();
  }
  Status OpenStatus() {
    database_.reset();
    auto opened = Database::Open(directory_ / "data", options_, clock_);
    if (!opened) return opened.error();
    database_ = std::move(*opened);
    return OkStatus();
  }
  size_t Rows(Family family) {
    size_t rows = 0;
    const auto iterator = StoreOf(*database_).NewIterator(family, {});
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) ++rows;
    return rows;
  }
};

TEST_F(RecoveryTest, RowsOfDroppedKeyspacesAndIndexesGo) {
  ASSERT_TRUE(Put("k", R"({"n":1})").status.ok());
  ASSERT_TRUE(database_->admin().CreateIndex({.bucket = "b"}, {"i", {{.path = "n"}}}).ok());
  Edit([&](storage::Batch& batch) {
    for (ShardId shard = 1; shard < 3; ++shard) {
      for (const KeyspaceId dead : {keyspace_ + 1, keyspace_ + 7}) {
        batch.Put(Family::kDocs, DocumentKey(shard, dead, "a"), "x");
        batch.Put(Family::kDocs, DocumentKey(shard, dead, "b"), "x");
        batch.Put(Family::kIndex, DocumentKey(shard, dead, "c"), "");
      }
    }
  });
  EXPECT_EQ(Rows(Family::kDocs), 1u);
  EXPECT_EQ(Rows(Family::kIndex), 1u);
  EXPECT_EQ(Get("k"), R"({"n":1})");
}

TEST_F(RecoveryTest, AFollowerWithoutAllItsCursorsGoes) {
  for (const char* name : {"whole", "half"}) {
    ASSERT_TRUE(
        database_->followers().Create({.name = name, .keyspaces = {keyspace_}, .lanes = 2}).ok());
  }
  Edit([&](storage::Batch& batch) {
    batch.Delete(Family::kCursor, CursorKey({"half", 2, 1}));
    batch.Put(Family::kCursor, CursorKey({"nobody", 1, 0}), EncodeCursor({}));
  });
  EXPECT_EQ(Rows(Family::kCursor), 6u);
  EXPECT_NE(database_->catalog()->FindFollower("whole"), nullptr);
  EXPECT_EQ(database_->catalog()->FindFollower("half"), nullptr);
  // The names are free again.
  EXPECT_TRUE(database_->followers().Create({.name = "half", .keyspaces = {keyspace_}}).ok());
  EXPECT_TRUE(database_->followers().Create({.name = "nobody", .keyspaces = {keyspace_}}).ok());
}

TEST_F(RecoveryTest, StampsNeverGoBack) {
  const CommitResult before = Put("k", "1");
  ASSERT_TRUE(before.status.ok());
  database_.reset();
  const FakeClock earlier(1000);
  auto opened = Database::Open(directory_ / "data", options_, earlier);
  ASSERT_TRUE(opened);
  EXPECT_GT((*opened)->NewCas(), before.writes[0].cas);
}

TEST_F(RecoveryTest, DamagedRowsAreNotServed) {
  ASSERT_TRUE(Put("k", "1").status.ok());
  const ShardId shard = database_->ShardOf(keyspace_, "k");
  Edit([&](storage::Batch& batch) {
    batch.Put(Family::kDocs, DocumentKey(shard, keyspace_, "k"), "\x09");
  });
  EXPECT_EQ(database_->Get(keyspace_, "k").error().id(), "document.corrupt");
  EXPECT_EQ(database_->CountDocuments(keyspace_).error().id(), "document.corrupt");
  EXPECT_EQ(Put("k", "2", Precondition::Present()).status.id(), "document.corrupt");
}

TEST_F(RecoveryTest, DamagedStateIsRefused) {
  const auto refused = [&](const std::string& key, const std::string& value) {
    database_.reset();
    std::string before;
    const auto put = [&](const std::string& what) {
      const auto store = std::move(*storage::Store::Open(StorePath(directory_ / "data"), {}));
      if (before.empty()) {
        EXPECT_TRUE(*store->Get(Family::kMeta, key, &before));
      }
      storage::Batch batch;
      batch.Put(Family::kMeta, key, what);
      EXPECT_TRUE(store->Write(&batch, storage::Sync::kYes).ok());
    };
    put(value);
    const std::string id = OpenStatus().id();
    put(before);
    return id;
  };
  EXPECT_EQ(refused(ShardState::Key(1), "\x01"), "shard.corrupt");
  EXPECT_EQ(refused(RowKey(kDefinitionsShard, BucketRowKey("b")), "\x07{}"), "catalog.corrupt");
  EXPECT_EQ(refused(RowKey(kDefinitionsShard, IdsRowKey()), "\x01{}"), "catalog.corrupt");
  EXPECT_TRUE(OpenStatus().ok());
}

TEST_F(RecoveryTest, TheFormatFileIsChecked) {
  database_.reset();
  const std::string path = (directory_ / "data") + "/FORMAT";
  const auto with = [&](const std::string& text) {
    std::ofstream(path, std::ios::trunc) << text;
    const Status status = OpenStatus();
    EXPECT_NE(status.message().find(path), std::string::npos);
    return status.id();
  };
  EXPECT_EQ(with(""), "storage.corrupt");
  EXPECT_EQ(with(R"({"sluice":2})"), "storage.corrupt");
  EXPECT_EQ(with(R"({"sluice":0,"shards":3,"id":"x"})"), "storage.unknown_format");
  EXPECT_EQ(with(R"({"sluice":1,"shards":3,"id":"x"})"), "storage.unknown_format");
  EXPECT_EQ(with(R"({"sluice":3,"shards":3,"id":"x"})"), "storage.unknown_format");
  EXPECT_EQ(with(R"({"sluice":2,"shards":0,"id":"x"})"), "storage.unknown_format");
  EXPECT_EQ(with(R"({"sluice":2,"shards":65539,"id":"x"})"), "storage.unknown_format");
  std::ofstream(path, std::ios::trunc) << R"({"sluice":2,"shards":3,"id":"x"})";
  EXPECT_TRUE(OpenStatus().ok());
}

TEST_F(RecoveryTest, AMissingStoreIsNotMadeAnew) {
  database_.reset();
  std::filesystem::remove_all(StorePath(directory_ / "data"));
  EXPECT_EQ(OpenStatus().id(), "storage.missing");
}

}  // namespace
}  // namespace sluice::db
