// A standby: what it refuses, that its memory follows the rows, and that it can take over. The
// model test compares all rows (model_test.cc).
#include <gtest/gtest.h>

#include "db/index.h"
#include "db/row_key.h"
#include "db/test_database.h"
#include "db/test_standby.h"

namespace sluice::db {
namespace {

class StandbyTest : public DatabaseTest {
 protected:
  StandbyTest() {
    options_.shards = 2;
    options_.journal = [this](storage::Store& store) {
      return std::make_unique<RecordingJournal>(store, log_);
    };
  }
  void SetUp() override {
    DatabaseTest::SetUp();
    standby_ = std::make_unique<TestStandby>(directory_ / "standby", options_, clock_, log_);
  }
  void TearDown() override {
    standby_.reset();
    database_.reset();  // its journal writes log_
  }
  void CatchUp() { standby_->CatchUp(*database_); }
  Database& standby() { return standby_->database(); }
  LoggedGroup LastGroup(ShardId shard) { return log_.From(shard, 0).back(); }
  Commit PutCommit(const std::string& key) {
    Commit commit;
    commit.shard = database_->ShardOf(keyspace_, key);
    commit.writes.push_back(PutWrite(keyspace_, key, Json("1")));
    return commit;
  }

  SharedLog log_;
  std::unique_ptr<TestStandby> standby_;
};

TEST_F(StandbyTest, OpeningWritesNothing) {
  CatchUp();
  const Sequence last = standby().followers().LastSequence(0);
  standby_->Reopen();
  EXPECT_EQ(standby().followers().LastSequence(0), last);
  standby_->ExpectSame(*database_);
}

TEST_F(StandbyTest, TakesNoCommits) {
  CatchUp();
  EXPECT_EQ(standby().Apply(PutCommit("a")).status.id(), "commit.not_owner");
  EXPECT_EQ(standby().admin().CreateBucket("c").id(), "catalog.shards_away");
  EXPECT_EQ(Get("a"), "-");
}

TEST_F(StandbyTest, RefusesGroupsThatDoNotFit) {
  CatchUp();
  ASSERT_TRUE(Put("a", "1").status.ok());
  const ShardId shard = database_->ShardOf(keyspace_, "a");
  const ShardId other = 1 - shard;
  const LoggedGroup group = LastGroup(shard);
  const auto id = [&](ShardId to, Sequence expected, Sequence next, const std::string& bytes) {
    return standby().ApplyGroup(to, expected, next, bytes).id();
  };
  std::string damaged = group.bytes;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  EXPECT_EQ(id(shard, group.expected, group.next, damaged), "group.corrupt");
  EXPECT_EQ(id(shard, group.expected + 1, group.next + 1, group.bytes), "group.corrupt");
  EXPECT_EQ(id(shard, group.expected - 1, group.next, group.bytes), "group.gap");
  EXPECT_EQ(id(other, group.expected, group.next, group.bytes), "group.corrupt") << "another shard";
  EXPECT_EQ(id(2, group.expected, group.next, group.bytes), "commit.malformed");
  EXPECT_EQ(id(shard, group.expected, group.next, storage::Batch().Serialize()), "group.corrupt");
  CatchUp();
  EXPECT_EQ(id(shard, group.expected, group.next, group.bytes), "group.gap") << "it has it already";
  EXPECT_EQ(database_->ApplyGroup(shard, group.expected, group.next, group.bytes).id(),
            "group.not_standby");
}

TEST_F(StandbyTest, RefusesRowsOfTheCatalogThatCannotBeRead) {
  CatchUp();
  const Sequence last = standby().followers().LastSequence(0);
  storage::Batch batch;
  ShardState state = *ShardState::Load(StoreOf(standby()), 0);
  ++state.sequence;
  batch.Put(storage::Family::kMeta, ShardState::Key(0), state.Encode());
  batch.Put(storage::Family::kMeta, RowKey(0, "catalog/bucket/x"), "\x07{}");
  EXPECT_EQ(standby().ApplyGroup(0, last, last + 1, batch.Serialize()).id(), "catalog.corrupt");
  EXPECT_EQ(standby().followers().LastSequence(0), last);
  standby_->ExpectSame(*database_);
}

TEST_F(StandbyTest, TheCatalogFollowsTheRows) {
  const KeyspaceName orders{.bucket = "b", .scope = "s", .collection = "orders"};
  ASSERT_TRUE(database_->admin().CreateScope("b", "s").ok());
  ASSERT_TRUE(database_->admin().CreateCollection(orders, 0).ok());
  CatchUp();
  const auto before = standby().catalog();
  ASSERT_TRUE(standby().Resolve(orders));
  ASSERT_TRUE(database_->admin().CreateIndex(orders, {"by_n", {{.path = "n"}}}).ok());
  ASSERT_TRUE(database_->admin().SetMaxExpiry(orders, 1000).ok());
  CatchUp();
  const auto after = standby().catalog();
  EXPECT_GT(after->version(), before->version());
  const auto found = *after->Resolve(orders);
  EXPECT_EQ(found->max_expiry_ms, 1000u);
  ASSERT_EQ(found->indexes.size(), 1u);
  EXPECT_TRUE(found->indexes[0]->CheckReady().ok());
  EXPECT_EQ(before->Find(keyspace_), after->Find(keyspace_)) << "what did not change is shared";
  ASSERT_TRUE(database_->admin().DropScope("b", "s").ok());
  ASSERT_TRUE(database_->admin().CreateScope("b", "s").ok());
  CatchUp();
  EXPECT_EQ(standby().Resolve(orders).error().id(), "collection.not_found");
  ASSERT_TRUE(database_->admin().DropBucket("b").ok());
  CatchUp();
  EXPECT_EQ(standby().Resolve({.bucket = "b"}).error().id(), "bucket.not_found");
}

TEST_F(StandbyTest, ASnapshotHasTheCatalogOfItsRows) {
  CatchUp();
  ASSERT_TRUE(database_->admin().CreateBucket("c").ok());
  const auto early = standby().NewSnapshot();
  CatchUp();
  const auto late = standby().NewSnapshot();
  ASSERT_NE(early->catalog(), nullptr);
  ASSERT_NE(late->catalog(), nullptr);
  EXPECT_FALSE(early->catalog()->Resolve({.bucket = "c"}));
  EXPECT_TRUE(late->catalog()->Resolve({.bucket = "c"}));
}

TEST_F(StandbyTest, ListenersHearWhatTheGroupChanged) {
  ASSERT_TRUE(database_->followers().Create({.name = "f", .keyspaces = {keyspace_}}).ok());
  CatchUp();
  std::vector<Committed> theirs;
  std::vector<Committed> ours;
  const ShardId shard = database_->ShardOf(keyspace_, "a");
  const auto note = [](std::vector<Committed>* into) {
    return [into](const Committed& committed) { into->push_back(committed); };
  };
  auto first = database_->followers().OnCommitted(shard, note(&theirs));
  const auto second = standby().followers().OnCommitted(shard, note(&ours));
  Commit commit = PutCommit("a");
  commit.rows.push_back({RowFamily::kMeta, kDefinitionsShard, "users/ann", "1", {}});
  ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  first.reset();
  CatchUp();
  ASSERT_EQ(theirs.size(), 1u);
  ASSERT_EQ(ours.size(), 1u);
  EXPECT_EQ(ours[0].sequence, theirs[0].sequence);
  EXPECT_EQ(ours[0].keyspaces, std::vector<KeyspaceId>{keyspace_});
  EXPECT_EQ(theirs[0].keyspaces, std::vector<KeyspaceId>{keyspace_});
  EXPECT_EQ(ours[0].meta_keys, std::vector<std::string>{"users/ann"});
  EXPECT_EQ(theirs[0].meta_keys, std::vector<std::string>{"users/ann"});
}

TEST_F(StandbyTest, TheLogIsCoveredAsItsRowsSay) {
  CatchUp();
  ASSERT_TRUE(Put("a", "1").status.ok());
  const ShardId shard = database_->ShardOf(keyspace_, "a");
  const auto covers = [&](Sequence position) {
    return standby().followers().LogCovers(keyspace_, shard, position);
  };
  CatchUp();
  EXPECT_FALSE(covers(database_->followers().LastSequence(shard)));
  ASSERT_TRUE(database_->followers().Create({.name = "f", .keyspaces = {keyspace_}}).ok());
  const Sequence since = database_->followers().LastSequence(shard);
  CatchUp();
  EXPECT_TRUE(covers(since));
  EXPECT_FALSE(covers(1));
  ASSERT_TRUE(database_->followers().Drop("f").ok());
  CatchUp();
  EXPECT_FALSE(covers(since));
}

// The catalog's shard is fed first, so it knows the second follower of the name when the cursors of
// the first one still come.
TEST_F(StandbyTest, AFollowerThatIsMadeAgainDoesNotInheritCoverage) {
  CatchUp();
  const size_t zero = log_.From(0, 0).size();
  const size_t one = log_.From(1, 0).size();
  ASSERT_TRUE(database_->followers().Create({.name = "f", .keyspaces = {keyspace_}}).ok());
  const Sequence first = database_->followers().LastSequence(1);
  ASSERT_TRUE(database_->followers().Drop("f").ok());
  ASSERT_TRUE(database_->followers().Create({.name = "f", .keyspaces = {keyspace_}}).ok());
  const Sequence second = database_->followers().LastSequence(1);
  for (const LoggedGroup& group : log_.From(0, zero)) {
    ASSERT_TRUE(standby().ApplyGroup(0, group.expected, group.next, group.bytes).ok());
  }
  for (const LoggedGroup& group : log_.From(1, one)) {
    ASSERT_TRUE(standby().ApplyGroup(1, group.expected, group.next, group.bytes).ok());
  }
  EXPECT_FALSE(standby().followers().LogCovers(keyspace_, 1, first));
  EXPECT_TRUE(standby().followers().LogCovers(keyspace_, 1, second));
}

TEST_F(StandbyTest, TransientFollowersStay) {
  const auto feed = *database_->followers().FollowTransiently(keyspace_);
  ASSERT_TRUE(database_->catalog()->Find(keyspace_)->logged);
  ASSERT_TRUE(database_->admin().CreateBucket("c").ok());
  EXPECT_TRUE(database_->catalog()->Find(keyspace_)->logged);
  EXPECT_TRUE(database_->catalog()->HasTransientFollowers());
}

TEST_F(StandbyTest, TakesOver) {
  ASSERT_TRUE(Put("a", "1").status.ok());
  ASSERT_TRUE(database_->followers().Create({.name = "f", .keyspaces = {keyspace_}}).ok());
  CatchUp();
  const Cas last = database_->NewCas();
  ASSERT_TRUE(Put("a", "2").status.ok());
  CatchUp();
  ASSERT_TRUE(standby().TakeOver().ok());
  CommitResult result = standby().Apply(PutCommit("a"));
  ASSERT_TRUE(result.status.ok()) << result.status.ToString();
  const ShardId shard = database_->ShardOf(keyspace_, "a");
  EXPECT_EQ(result.sequence, database_->followers().LastSequence(shard) + 1);
  EXPECT_GT(result.writes[0].cas, last);
  EXPECT_TRUE(standby().admin().CreateBucket("c").ok());
  EXPECT_EQ(standby().ApplyGroup(0, 1, 2, LastGroup(0).bytes).id(), "group.not_standby");
}

}  // namespace
}  // namespace sluice::db
