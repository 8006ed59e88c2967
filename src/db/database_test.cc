#include "db/database.h"

#include "db/directory.h"
#include "db/test_database.h"

namespace sluice::db {
namespace {

using Database = DatabaseTest;

TEST_F(Database, KeepsDocumentsByteForByte) {
  Document document = Json("{ \"a\" : 1.50 }\n");
  document.flags = 7;
  document.xattrs = R"({"x":1})";
  ASSERT_TRUE(Apply(PutWrite(keyspace_, "k", document)).status.ok());
  Reopen();
  const auto read = *database_->Get(keyspace_, "k");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->body, "{ \"a\" : 1.50 }\n");
  EXPECT_EQ(read->flags, 7u);
  EXPECT_EQ(read->xattrs, R"({"x":1})");
}

TEST_F(Database, Preconditions) {
  EXPECT_EQ(Put("k", "1", Precondition::Present()).status.id(), "document.not_found");
  EXPECT_EQ(Delete("k", Precondition::Present()).status.id(), "document.not_found");
  EXPECT_TRUE(Delete("k").status.ok());
  const CommitResult inserted = Put("k", "1", Precondition::Absent());
  ASSERT_TRUE(inserted.status.ok());
  EXPECT_EQ(Put("k", "2", Precondition::Absent()).status.id(), "document.exists");
  const Cas cas = inserted.writes[0].cas;
  const Status mismatch = Put("k", "2", Precondition::CasIs(cas + 1)).status;
  EXPECT_EQ(mismatch.id(), "document.cas_mismatch");
  EXPECT_EQ(mismatch.fields().at("cas"), std::to_string(cas));
  EXPECT_EQ(Get("k"), "1");
  const CommitResult replaced = Put("k", "2", Precondition::CasIs(cas));
  ASSERT_TRUE(replaced.status.ok());
  EXPECT_GT(replaced.writes[0].cas, cas);
  EXPECT_TRUE(Delete("k", Precondition::CasIs(replaced.writes[0].cas)).status.ok());
  EXPECT_EQ(Get("k"), "-");
  EXPECT_TRUE(Put("k", "3", Precondition::Absent()).status.ok());
}

TEST_F(Database, ACommitIsAllOrNothing) {
  ASSERT_TRUE(Put("b", "0").status.ok());
  Commit commit;
  commit.writes.push_back(PutWrite(keyspace_, "a", Json("1")));
  commit.writes.push_back(PutWrite(keyspace_, "b", Json("1"), Precondition::Absent()));
  const CommitResult result = database_->Apply(std::move(commit));
  EXPECT_EQ(result.status.id(), "document.exists");
  EXPECT_EQ(result.failed_write, 1);
  EXPECT_EQ(Get("a"), "-");
  EXPECT_EQ(Get("b"), "0");
}

TEST_F(Database, LaterWritesOfACommitSeeEarlierOnes) {
  Commit commit;
  commit.writes.push_back(PutWrite(keyspace_, "a", Json("1")));
  commit.writes.push_back(CounterWrite(keyspace_, "a", {.delta = 5}));
  commit.writes.push_back(DeleteWrite(keyspace_, "a", Precondition::Present()));
  commit.writes.push_back(PutWrite(keyspace_, "a", Json("9"), Precondition::Absent()));
  const CommitResult result = database_->Apply(std::move(commit));
  ASSERT_TRUE(result.status.ok()) << result.status.ToString();
  EXPECT_EQ(result.writes[1].reply, "6");
  EXPECT_EQ(Get("a"), "9");
}

TEST_F(Database, Counters) {
  EXPECT_EQ(Apply(CounterWrite(keyspace_, "c", {})).status.id(), "document.not_found");
  EXPECT_EQ(Apply(CounterWrite(keyspace_, "c", {.initial = 10})).writes[0].reply, "10");
  EXPECT_EQ(Apply(CounterWrite(keyspace_, "c", {.delta = -3})).writes[0].reply, "7");
  ASSERT_TRUE(Put("c", "9223372036854775807").status.ok());
  EXPECT_EQ(Apply(CounterWrite(keyspace_, "c", {})).status.id(), "counter.overflow");
  ASSERT_TRUE(Put("c", "\"x\"").status.ok());
  EXPECT_EQ(Apply(CounterWrite(keyspace_, "c", {})).status.id(), "counter.not_number");
}

TEST_F(Database, RefusesBadKeysAndSizes) {
  EXPECT_EQ(Put("", "1").status.id(), "document.invalid_key");
  EXPECT_EQ(Put("\xff", "1").status.id(), "document.invalid_key");
  EXPECT_EQ(Put(std::string(kMaxKeyBytes + 1, 'k'), "1").status.id(), "document.key_too_long");
  EXPECT_TRUE(Put(std::string(kMaxKeyBytes, 'k'), "1").status.ok());
  EXPECT_TRUE(Put("big", std::string(kMaxDocumentBytes, '1')).status.ok());
  EXPECT_EQ(Put("bigger", std::string(kMaxDocumentBytes + 1, '1')).status.id(),
            "document.too_large");
  Commit commit;
  commit.writes.push_back(PutWrite(999, "k", Json("1")));
  EXPECT_EQ(database_->Apply(std::move(commit)).status.id(), "keyspace.not_found");
}

TEST_F(Database, CatalogSurvivesARestart) {
  ASSERT_TRUE(database_->admin().CreateScope("b", "s").ok());
  ASSERT_TRUE(database_->admin().CreateCollection({"b", "s", "c"}, 5000).ok());
  EXPECT_EQ(database_->admin().CreateCollection({"b", "s", "c"}).id(), "collection.exists");
  EXPECT_EQ(database_->admin().CreateBucket("b").id(), "bucket.exists");
  EXPECT_EQ(database_->admin().CreateCollection({"b", "s", "d"}, UINT64_MAX).id(),
            "collection.invalid_expiry");
  EXPECT_EQ(database_->admin().CreateBucket("_x").id(), "keyspace.invalid_name");
  EXPECT_EQ(database_->Resolve({"b", "s", "d"}).error().id(), "collection.not_found");
  const KeyspaceId id = *database_->Resolve({"b", "s", "c"});
  ASSERT_TRUE(Apply(PutWrite(id, "k", Json("1"))).status.ok());
  Reopen();
  EXPECT_EQ(*database_->Resolve({"b", "s", "c"}), id);
  EXPECT_EQ(database_->catalog()->Find(id)->max_expiry_ms, 5000u);
  ASSERT_TRUE(database_->admin().DropScope("b", "s").ok());
  EXPECT_FALSE(*database_->Get(id, "k"));
  ASSERT_TRUE(database_->admin().CreateScope("b", "s").ok());
  ASSERT_TRUE(database_->admin().CreateCollection({"b", "s", "c"}).ok());
  Reopen();
  EXPECT_GT(*database_->Resolve({"b", "s", "c"}), id);
  ASSERT_TRUE(database_->admin().DropBucket("b").ok());
  Reopen();
  EXPECT_EQ(database_->Resolve({.bucket = "b"}).error().id(), "bucket.not_found");
}

TEST_F(Database, ExpiredDocumentsAreGoneAtOnceAndDeletedLater) {
  const uint64_t now = clock_.WallMs();
  ASSERT_TRUE(Apply(PutWrite(keyspace_, "k", Json("1", now + 1000))).status.ok());
  EXPECT_EQ(Get("k"), "1");
  clock_.AdvanceMs(1000);
  EXPECT_EQ(Get("k"), "-");
  EXPECT_EQ(*database_->CountDocuments(keyspace_), 0u);
  EXPECT_TRUE(Put("k", "2", Precondition::Absent()).status.ok());
  EXPECT_EQ(*database_->operations().ExpireNow(), 0u);
  EXPECT_EQ(Get("k"), "2");
  ASSERT_TRUE(Apply(TouchWrite(keyspace_, "k", clock_.WallMs() + 10)).status.ok());
  clock_.AdvanceMs(10);
  EXPECT_EQ(*database_->operations().ExpireNow(), 1u);
  PinnedDocument row;
  ASSERT_TRUE(*database_->GetRow(keyspace_, "k", &row));
  EXPECT_TRUE(row->tombstone && row->expired);
  clock_.AdvanceMs(options_.tombstone_retention_ms + 1);
  EXPECT_EQ(*database_->operations().ExpireNow(), 0u);
  EXPECT_FALSE(*database_->GetRow(keyspace_, "k", &row));
}

TEST_F(Database, ScansInKeyOrderWithBounds) {
  for (const char* key : {"a1", "a2", "b1", "b2", "c"}) ASSERT_TRUE(Put(key, "1").status.ok());
  ASSERT_TRUE(Delete("b1").status.ok());
  const auto keys = [&](ScanOptions options) {
    std::string seen;
    EXPECT_TRUE(database_
                    ->Scan(keyspace_, options,
                           [&](std::string_view key, const DocumentView&) {
                             seen += std::string(key) + " ";
                             return true;
                           })
                    .ok());
    return seen;
  };
  EXPECT_EQ(keys({}), "a1 a2 b2 c ");
  EXPECT_EQ(keys({.from = "a2", .to = "c"}), "a2 b2 ");
  EXPECT_EQ(keys({.prefix = "b", .with_tombstones = true}), "b1 b2 ");
  EXPECT_EQ(keys({.reverse = true, .limit = 2}), "c b2 ");
}

TEST_F(Database, BackupAndRestore) {
  ASSERT_TRUE(Put("k", "1").status.ok());
  ASSERT_TRUE(database_->operations().Backup(directory_ / "backup").ok());
  EXPECT_EQ(database_->operations().Backup(directory_ / "backup").id(), "backup.target_not_empty");
  ASSERT_TRUE(Put("k", "2").status.ok());
  ASSERT_TRUE(RestoreBackup(directory_ / "backup", directory_ / "copy").ok());
  EXPECT_EQ(RestoreBackup(directory_ / "backup", directory_ / "copy").id(),
            "backup.target_not_empty");
  EXPECT_EQ(RestoreBackup(directory_ / "nothing", directory_ / "copy2").id(), "backup.not_found");
  auto copy = db::Database::Open(directory_ / "copy", options_, clock_);
  ASSERT_TRUE(copy) << copy.error().ToString();
  EXPECT_EQ((*(*copy)->Get(keyspace_, "k"))->body, "1");
  EXPECT_EQ(Get("k"), "2");
}

TEST_F(Database, OneProcessAtATime) {
  const auto second = db::Database::Open(directory_ / "data", options_, clock_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().id(), "storage.in_use");
}

// The first document with extended attributes is what makes later writes look for some.
TEST_F(DatabaseTest, KeepXattrsKeepsThem) {
  const auto put = [&](const std::string& key, std::string xattrs, bool keep) {
    Write write = PutWrite(keyspace_, key, Json("1"));
    write.document.xattrs = std::move(xattrs);
    write.keep_xattrs = keep;
    ASSERT_TRUE(Apply(std::move(write)).status.ok());
  };
  const auto xattrs = [&](const std::string& key) {
    return (*database_->Get(keyspace_, key))->xattrs;
  };
  put("a", R"({"x":1})", true);
  EXPECT_EQ(xattrs("a"), R"({"x":1})");
  put("a", "", true);
  EXPECT_EQ(xattrs("a"), R"({"x":1})");
  Reopen();
  put("a", "", true);
  EXPECT_EQ(xattrs("a"), R"({"x":1})");
  put("a", "", false);
  EXPECT_EQ(xattrs("a"), "");
  put("a", R"({"x":2})", true);
  EXPECT_EQ(xattrs("a"), "");
  put("a", R"({"x":3})", false);
  ASSERT_TRUE(Delete("a").status.ok());
  put("a", "", true);
  EXPECT_EQ(xattrs("a"), "");
}

TEST_F(DatabaseTest, KeepXattrsSeesEarlierWritesOfItsCommit) {
  Commit commit;
  commit.writes.push_back(PutWrite(keyspace_, "a", Json("1")));
  commit.writes.back().document.xattrs = R"({"x":1})";
  commit.writes.push_back(PutWrite(keyspace_, "a", Json("2")));
  commit.writes.back().keep_xattrs = true;
  ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  const auto document = database_->Get(keyspace_, "a");
  EXPECT_EQ((*document)->body, "2");
  EXPECT_EQ((*document)->xattrs, R"({"x":1})");
}

}  // namespace
}  // namespace sluice::db
