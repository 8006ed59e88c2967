// The catalog's stored rows (docs/formats/catalog.md), and changes of it in several shards at once.
#include "db/catalog.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include <gmock/gmock.h>

#include "base/bytes.h"
#include "db/catalog_edit.h"
#include "db/catalog_rows.h"
#include "db/database_impl.h"
#include "db/row_key.h"
#include "db/test_database.h"
#include "db/test_follower.h"

namespace sluice::db {
namespace {

using ::testing::ElementsAre;

// "key=value" of the rows that an edit writes, the version byte as \1; "key" of those it deletes.
std::vector<std::string> Rows(const CatalogEdit& edit) {
  std::vector<std::string> rows;
  for (const RowWrite& row : edit.rows()) {
    rows.push_back(row.key);
    if (!row.value) continue;
    EXPECT_EQ(row.shard, kDefinitionsShard);
    EXPECT_EQ((*row.value)[0], row.key.starts_with("catalog/index/") ? 2 : 1);
    rows.back() += "=" + row.value->substr(1);
  }
  return rows;
}

TEST(CatalogFormat, GoldenTable) {
  CatalogEdit edit{Catalog()};
  TableSchema schema{.name = "t",
                     .columns = {{.name = "i", .type = ColumnType::kInt, .not_null = true},
                                 {.name = "c",
                                  .type = ColumnType::kCString,
                                  .length = 10,
                                  .default_text = "'x'",
                                  .added = json::Value("x")}},
                     .keys = {{.name = "primary",
                               .parts = {{.column = "i", .descending = true}},
                               .unique = true,
                               .primary = true}},
                     .references = {},
                     .checks = {}};
  ASSERT_TRUE(edit.CreateTable(schema).ok());
  const std::vector<std::string> rows = Rows(edit);
  ASSERT_GE(rows.size(), 5u);
  EXPECT_EQ(rows[0], "catalog/bucket/_tables={}");
  EXPECT_EQ(rows[1], "catalog/scope/_tables/_default={}");
  EXPECT_EQ(rows[2],
            R"(catalog/keyspace/2147483649={"id":2147483649,"bucket":"_tables",)"
            R"("scope":"_default","collection":"t","max_expiry_ms":0,"table":{"columns":[)"
            R"({"name":"i","type":"int","not_null":true},)"
            R"({"name":"c","type":"cstring","length":10,"default":"'x'","added":"x"}],)"
            R"("keys":[{"name":"primary","parts":[{"column":"i","desc":true}],"unique":true,)"
            R"("primary":true}],"references":[],"checks":[]}})");
  EXPECT_EQ(rows.back(),
            R"(catalog/index/0000000001={"id":1,"keyspace":2147483649,"name":"primary",)"
            R"("primary":false,"parts":[{"path":"i","each":false,"distinct":true,"desc":true,)"
            R"("include_missing":true}],"where":"","state":"ready","unique":true})");
  const auto value = DecodeMetaJson("k", "\1" + rows[2].substr(rows[2].find('=') + 1));
  ASSERT_TRUE(value);
  const auto info = KeyspaceFromJson(*value);
  ASSERT_TRUE(info);
  EXPECT_EQ(*info->table, schema);
}

TEST(Tables, NamesAreNotThoseOfBuckets) {
  CatalogEdit edit{Catalog()};
  const TableSchema schema{.name = "t", .columns = {{.name = "i"}}};
  ASSERT_TRUE(edit.CreateTable(schema).ok());
  EXPECT_EQ(edit.CreateTable(schema).id(), "table.exists");
  EXPECT_EQ(edit.CreateBucket("T").id(), "table.exists");
  ASSERT_TRUE(edit.CreateBucket("b").ok());
  EXPECT_EQ(edit.CreateTable({.name = "b", .columns = {{.name = "i"}}}).id(), "bucket.exists");
  EXPECT_EQ(edit.DropBucket("_tables").id(), "keyspace.is_system");
  EXPECT_EQ(edit.DropCollection(TableKeyspace("t")).id(), "keyspace.is_system");
  EXPECT_EQ(edit.RenameTable("t", "b").id(), "bucket.exists");
  ASSERT_TRUE(edit.RenameTable("t", "u").ok());
  EXPECT_EQ(edit.DropTable("t").id(), "table.not_found");
  ASSERT_TRUE(edit.DropTable("U").ok());
}

TEST(CatalogFormat, Golden) {
  CatalogEdit edit{Catalog()};
  ASSERT_TRUE(edit.CreateBucket("b").ok());
  EXPECT_THAT(Rows(edit),
              ElementsAre("catalog/bucket/b={}", "catalog/scope/b/_default={}",
                          R"(catalog/keyspace/0000000001={"id":1,"bucket":"b","scope":"_default",)"
                          R"("collection":"_default","max_expiry_ms":0})",
                          R"(catalog/ids={"keyspace":2,"index":1})"));
  const auto catalog = edit.Finish();
  CatalogEdit more(*catalog);
  ASSERT_TRUE(more.CreateIndex({.bucket = "b"}, {"i", {{.path = "a.b", .each_element = true}}}));
  ASSERT_TRUE(more.CreateFollower({.name = "f", .keyspaces = {1}, .lanes = 64}).ok());
  EXPECT_THAT(
      Rows(more),
      ElementsAre(R"(catalog/index/0000000001={"id":1,"keyspace":1,"name":"i",)"
                  R"("primary":false,"parts":[{"path":"a.b","each":true,"distinct":true,)"
                  R"("desc":false,"include_missing":false}],"where":"","state":"building"})",
                  R"(catalog/ids={"keyspace":2,"index":2})",
                  R"(catalog/follower/f={"name":"f","keyspaces":[1],"before":false,)"
                  R"("after":true,"holds_log":true,"lanes":64})"));
  const auto grown = more.Finish();
  CatalogEdit drop(*grown);
  ASSERT_TRUE(drop.DropBucket("b").ok());
  ASSERT_TRUE(drop.DropFollower("f").ok());
  EXPECT_THAT(Rows(drop),
              ElementsAre("catalog/index/0000000001", "catalog/keyspace/0000000001",
                          "catalog/scope/b/_default", "catalog/bucket/b", "catalog/follower/f"));
  EXPECT_THAT(drop.dropped_keyspaces(), ElementsAre(1));
  EXPECT_THAT(drop.dropped_indexes(), ElementsAre(1));
}

class CatalogLoadTest : public ::testing::Test {
 protected:
  CatalogLoadTest() { store_ = std::move(*storage::Store::Open(directory_ / "store", {})); }
  // The id of the error that loading these rows gives.
  std::string Load(const std::vector<std::pair<std::string, std::string>>& rows) {
    storage::Batch batch;
    const auto old = store_->NewIterator(storage::Family::kMeta, {});
    for (old->SeekToFirst(); old->Valid(); old->Next()) {
      batch.Delete(storage::Family::kMeta, old->key());
    }
    for (const auto& [key, value] : rows) {
      batch.Put(storage::Family::kMeta, RowKey(kDefinitionsShard, key), value);
    }
    EXPECT_TRUE(store_->Write(&batch, storage::Sync::kNo).ok());
    const auto catalog = CatalogEdit::Load(*store_);
    return catalog ? "" : catalog.error().id();
  }
  TestDirectory directory_;
  std::unique_ptr<storage::Store> store_;
};

TEST_F(CatalogLoadTest, RefusesDamagedRows) {
  const std::string keyspace =
      "\1{\"id\":1,\"bucket\":\"b\",\"scope\":\"s\",\"collection\":\"c\",\"max_expiry_ms\":0}";
  const std::string ids = "\1{\"keyspace\":2,\"index\":1}";
  EXPECT_EQ(Load({}), "");
  EXPECT_EQ(Load({{"catalog/keyspace/0000000001", keyspace}, {"catalog/ids", ids}}), "");
  const std::string corrupt = "catalog.corrupt";
  EXPECT_EQ(Load({{"catalog/keyspace/0000000001", keyspace}}), corrupt) << "no next id";
  EXPECT_EQ(Load({{"catalog/ids", "\2{\"keyspace\":2,\"index\":1}"}}), corrupt) << "version";
  EXPECT_EQ(Load({{"catalog/ids", "\1{\"keyspace\":\"x\",\"index\":1}"}}), corrupt);
  EXPECT_EQ(Load({{"catalog/ids", "\1{\"keyspace\""}}), corrupt);
  EXPECT_EQ(Load({{"catalog/ids", ""}}), corrupt);
  EXPECT_EQ(Load({{"catalog/bucket/b", "\1[]"}}), corrupt);
  EXPECT_EQ(Load({{"catalog/scope/b", "\1{}"}}), corrupt);
  EXPECT_EQ(Load({{"catalog/keyspace/0000000001", "\1{\"id\":1}"}, {"catalog/ids", ids}}), corrupt);
  EXPECT_EQ(Load({{"catalog/index/0000000001", "\1{\"id\":1,\"keyspace\":1,\"name\":\"i\"}"}}),
            corrupt);
  EXPECT_EQ(Load({{"catalog/follower/f", "\1{\"name\":\"f\",\"lanes\":0}"}}), corrupt);
  EXPECT_EQ(Load({{"catalog/table/t", "\1{}"}}), corrupt) << "of a newer version";
}

TEST_F(CatalogLoadTest, IndexRowsOfVersion1) {
  const std::string keyspace =
      "\1{\"id\":1,\"bucket\":\"b\",\"scope\":\"s\",\"collection\":\"c\",\"max_expiry_ms\":0}";
  ASSERT_EQ(
      Load({{"catalog/keyspace/0000000001", keyspace},
            {"catalog/ids", "\1{\"keyspace\":2,\"index\":3}"},
            {"catalog/index/0000000001",
             "\1{\"id\":1,\"keyspace\":1,\"name\":\"i\",\"parts\":[{\"path\":\"a\",\"each\":true,"
             "\"desc\":true}],\"ready\":true}"},
            {"catalog/index/0000000002",
             "\1{\"id\":2,\"keyspace\":1,\"name\":\"j\",\"parts\":[{\"path\":\"a\",\"each\":false,"
             "\"desc\":false}],\"ready\":false}"}}),
      "");
  const auto catalog = *CatalogEdit::Load(*store_);
  const auto& indexes = catalog->Find(1)->indexes;
  EXPECT_EQ(indexes[0]->definition(),
            (IndexDefinition{"i", {{.path = "a", .each_element = true, .descending = true}}}));
  EXPECT_EQ(indexes[0]->state(), Index::State::kReady);
  EXPECT_EQ(indexes[1]->definition(), (IndexDefinition{"j", {{.path = "a"}}}));
  EXPECT_EQ(indexes[1]->state(), Index::State::kBuilding);
}

class ShardedCatalogTest : public DatabaseTest {
 protected:
  ShardedCatalogTest() {
    options_.durability = Durability::kNone;
    options_.shards = 4;
  }
  std::set<uint32_t> StoredIds(storage::Family family) {
    std::set<uint32_t> ids;
    const auto iterator = StoreOf(*database_).NewIterator(family, {});
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      ByteReader reader(iterator->key());
      reader.U16();
      ids.insert(reader.U32());
    }
    EXPECT_TRUE(iterator->status().ok());
    return ids;
  }
};

TEST_F(ShardedCatalogTest, ChangesWhileWritersRunLeaveNoRowsBehind) {
  std::atomic<bool> stop = false;
  std::vector<std::thread> writers;
  const KeyspaceName name{"b", "_default", "c"};
  for (int t = 0; t < 2; ++t) {
    writers.emplace_back([&, t] {
      for (int i = 0; !stop; ++i) {
        const auto keyspace = database_->Resolve(name);
        if (!keyspace) continue;
        const Status put =
            Apply(PutWrite(*keyspace, fmt::format("k{}-{}", t, i), Json(R"({"n":1})"))).status;
        EXPECT_TRUE(put.ok() || put.id() == "keyspace.not_found") << put.ToString();
      }
    });
  }
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(database_->admin().CreateCollection(name).ok());
    ASSERT_TRUE(database_->admin().CreateIndex(name, {"i", {{.path = "n"}}}).ok());
    ASSERT_TRUE(database_->admin().DropCollection(name).ok());
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_THAT(StoredIds(storage::Family::kDocs), ElementsAre());
  EXPECT_THAT(StoredIds(storage::Family::kIndex), ElementsAre());
}

// Transient followers that come and go at once: whoever follows finds its keyspace covered, and
// what it reads from there on is complete.
TEST_F(ShardedCatalogTest, ConcurrentFollowersMissNothing) {
  options_.log_retention_ms = 0;
  Reopen();
  std::atomic<bool> stop = false;
  std::thread churn([&] {
    while (!stop) {
      auto token = *database_->followers().FollowTransiently(keyspace_);
      token.reset();
      EXPECT_TRUE(database_->operations().TrimNow().ok());
    }
  });
  for (int round = 0; round < 60; ++round) {
    const auto token = *database_->followers().FollowTransiently(keyspace_);
    const std::string key = fmt::format("k{}", round);
    const ShardId shard = database_->ShardOf(keyspace_, key);
    Feed feed(*database_, shard, {keyspace_},
              *Feed::StartAfter(*database_, shard, {keyspace_},
                                database_->followers().LastSequence(shard)));
    ASSERT_TRUE(Put(key, "1").status.ok());
    const std::vector<std::string> seen = Drain(feed);
    EXPECT_EQ(
        std::count_if(seen.begin(), seen.end(),
                      [&](const std::string& text) { return text.ends_with(" " + key + " -> 1"); }),
        1)
        << "round " << round;
  }
  stop = true;
  churn.join();
}

TEST_F(ShardedCatalogTest, FollowersHaveCursorsInEveryShard) {
  ASSERT_TRUE(
      database_->followers().Create({.name = "f", .keyspaces = {keyspace_}, .lanes = 2}).ok());
  for (ShardId shard = 0; shard < 4; ++shard) {
    EXPECT_TRUE(database_->followers().ReadCursor({"f", shard, 1}));
  }
  ASSERT_TRUE(database_->followers().Drop("f").ok());
  for (ShardId shard = 0; shard < 4; ++shard) {
    EXPECT_FALSE(database_->followers().ReadCursor({"f", shard, 1}));
  }
}

}  // namespace
}  // namespace sluice::db
