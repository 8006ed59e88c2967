// Copies of shards: made while the shard is written, loaded by a second server, which then goes on
// with the groups since.
#include "db/shard_copy.h"

#include <thread>

#include "db/row_key.h"
#include "db/test_database.h"
#include "db/test_follower.h"
#include "db/test_standby.h"

namespace sluice::db {
namespace {

class ShardCopyTest : public DatabaseTest, public ::testing::WithParamInterface<uint16_t> {
 protected:
  static constexpr int kDocuments = 1200;

  ShardCopyTest() {
    options_.durability = Durability::kNone;
    options_.shards = GetParam();
    options_.journal = [this](storage::Store& store) {
      return std::make_unique<RecordingJournal>(store, log_);
    };
  }
  void SetUp() override {
    DatabaseTest::SetUp();
    ASSERT_TRUE(database_->admin().CreateIndex({.bucket = "b"}, {"by_n", {{.path = "n"}}}).ok());
    ASSERT_TRUE(database_->followers().Create({.name = "f", .keyspaces = {keyspace_}}).ok());
    const std::string filler(2000, 'x');
    for (int i = 0; i < kDocuments; ++i) {
      ASSERT_TRUE(
          Put(fmt::format("d{}", i), fmt::format(R"({{"n":{},"f":"{}"}})", i, filler)).status.ok());
    }
    OpenOther();
  }
  void TearDown() override {
    other_.reset();
    database_.reset();  // its journal writes log_
  }
  void OpenOther() {
    other_.reset();
    DatabaseOptions options = options_;
    options.role = DatabaseRole::kStandby;
    options.journal = nullptr;
    auto opened = Database::Open(directory_ / "other", options, clock_);
    ASSERT_TRUE(opened) << opened.error().ToString();
    other_ = std::move(*opened);
  }
  std::vector<std::string> BatchesOf(ShardId shard, Sequence* sequence = nullptr) {
    const auto copy = database_->shard_copies().Copy(shard);
    EXPECT_TRUE(copy);
    std::vector<std::string> batches;
    while (true) {
      const auto batch = (*copy)->Next();
      EXPECT_TRUE(batch);
      if (!batch || !*batch) break;
      batches.push_back(**batch);
    }
    if (sequence != nullptr) *sequence = (*copy)->sequence();
    return batches;
  }
  void LoadAll(ShardId shard, const std::vector<std::string>& batches) {
    const auto load = other_->shard_copies().Load(shard);
    ASSERT_TRUE(load) << load.error().ToString();
    for (const std::string& batch : batches) {
      EXPECT_FALSE((*load)->complete());
      const Status added = (*load)->Add(batch);
      ASSERT_TRUE(added.ok()) << added.ToString();
    }
    EXPECT_TRUE((*load)->complete());
    EXPECT_FALSE(other_->shard_copies().Incomplete(shard));
  }
  void Feed(ShardId shard) {
    for (const LoggedGroup& group : log_.From(shard, 0)) {
      if (group.next <= other_->followers().LastSequence(shard)) continue;
      const Status applied = other_->ApplyGroup(shard, group.expected, group.next, group.bytes);
      ASSERT_TRUE(applied.ok()) << applied.ToString();
    }
  }
  void ExpectSame() {
    ExpectSameRows(StoreOf(*database_), StoreOf(*other_));
    EXPECT_EQ(Describe(*database_->catalog()), Describe(*other_->catalog()));
    for (ShardId shard = 0; shard < GetParam(); ++shard) {
      EXPECT_EQ(database_->followers().LastSequence(shard),
                other_->followers().LastSequence(shard));
      EXPECT_EQ(database_->followers().LogTrimmed(shard), other_->followers().LogTrimmed(shard));
      const Sequence done = Done(shard);
      EXPECT_TRUE(other_->followers().LogCovers(keyspace_, shard, done));
    }
  }
  // The log is complete after this.
  Sequence Done(ShardId shard) const {
    return database_->followers().ReadCursor({"f", shard, 0})->position.done();
  }
  ShardId last() const { return static_cast<ShardId>(GetParam() - 1); }

  SharedLog log_;
  std::unique_ptr<Database> other_;
};

TEST_P(ShardCopyTest, CopiedWhileItIsWritten) {
  std::atomic<bool> ends = false;
  std::thread writer([&] {
    for (int i = 0; !ends && !HasFailure(); ++i) {
      const std::string key = fmt::format("d{}", i * 7 % (2 * kDocuments));
      if (i % 5 == 0) {
        ASSERT_TRUE(Delete(key).status.ok());
      } else {
        ASSERT_TRUE(Put(key, fmt::format(R"({{"n":{}}})", i)).status.ok());
      }
    }
  });
  size_t batches = 0;
  for (int shard = last(); shard >= 0; --shard) {
    const auto of = static_cast<ShardId>(shard);
    Sequence sequence = 0;
    const std::vector<std::string> copy = BatchesOf(of, &sequence);
    batches += copy.size();
    LoadAll(of, copy);
    EXPECT_EQ(other_->followers().LastSequence(of), sequence);
    Feed(of);
  }
  EXPECT_GT(batches, GetParam() + 1u);
  TestFollower follower(*database_, "f", last());
  follower.Consume(50);
  ends = true;
  writer.join();
  for (ShardId shard = 0; shard < GetParam(); ++shard) Feed(shard);
  ExpectSame();
  // It may take over.
  const ShardId shard = other_->ShardOf(keyspace_, "d1");
  const Cas last_cas = ShardState::Load(StoreOf(*database_), shard)->clock;
  ASSERT_TRUE(other_->TakeOver().ok());
  Commit commit;
  commit.shard = shard;
  commit.writes.push_back(PutWrite(keyspace_, "d1", Json("1")));
  const CommitResult put = other_->Apply(std::move(commit));
  ASSERT_TRUE(put.status.ok()) << put.status.ToString();
  EXPECT_GT(put.writes[0].cas, last_cas);
  EXPECT_TRUE(other_->admin().CreateBucket("c").ok());
}

// The rows that it had go, also those of the catalog.
TEST_P(ShardCopyTest, ReplacesWhatTheServerHas) {
  for (ShardId shard = 0; shard < GetParam(); ++shard) LoadAll(shard, BatchesOf(shard));
  ASSERT_TRUE(database_->admin().CreateBucket("c").ok());
  ASSERT_TRUE(database_->admin().DropIndex({.bucket = "b"}, "by_n").ok());
  for (int i = 0; i < kDocuments; i += 2) {
    ASSERT_TRUE(Delete(fmt::format("d{}", i)).status.ok());
  }
  std::vector<Committed> heard;
  const auto listener = other_->followers().OnCommitted(
      0, [&](const Committed& committed) { heard.push_back(committed); });
  for (ShardId shard = 0; shard < GetParam(); ++shard) LoadAll(shard, BatchesOf(shard));
  ExpectSame();
  for (ShardId shard = 0; shard < GetParam(); ++shard) {
    EXPECT_FALSE(other_->followers().LogCovers(keyspace_, shard, Done(shard) - 1));
  }
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].sequence, database_->followers().LastSequence(0));
  const auto changed = [&](const std::string& key) {
    return std::ranges::binary_search(heard[0].meta_keys, key);
  };
  EXPECT_TRUE(changed("catalog/bucket/b") && changed("catalog/bucket/c"));
}

TEST_P(ShardCopyTest, AnIncompleteOneIsLoadedAgain) {
  const std::vector<std::string> batches = BatchesOf(last());
  LoadAll(last(), batches);
  {
    const auto load = other_->shard_copies().Load(last());
    ASSERT_TRUE(load);
    ASSERT_TRUE((*load)->Add(batches[0]).ok() || batches.size() == 1);
  }
  for (int opened = 0; opened < 2; ++opened) {
    EXPECT_TRUE(other_->shard_copies().Incomplete(last()));
    EXPECT_EQ(other_->followers().LastSequence(last()), 0u);
    const LoggedGroup group = log_.From(last(), 0)[0];
    EXPECT_EQ(other_->ApplyGroup(last(), group.expected, group.next, group.bytes).id(),
              "shard.incomplete");
    EXPECT_EQ(other_->shard_copies().Copy(last()).error().id(), "shard.incomplete");
    EXPECT_EQ(other_->TakeOver().id(), "shard.incomplete");
    OpenOther();
  }
  for (ShardId shard = 0; shard < GetParam(); ++shard) LoadAll(shard, BatchesOf(shard));
  ExpectSame();
  OpenOther();
  ExpectSame();
}

TEST_P(ShardCopyTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(database_->shard_copies().Load(0).error().id(), "group.not_standby");
  EXPECT_EQ(other_->shard_copies().Load(GetParam()).error().id(), "commit.malformed");
  const std::vector<std::string> batches = BatchesOf(last());
  const auto load = other_->shard_copies().Load(last());
  ASSERT_TRUE(load);
  std::string damaged = batches[0];
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  EXPECT_EQ((*load)->Add(damaged).id(), "group.corrupt");
  storage::Batch deletion;
  deletion.Delete(storage::Family::kDocs, RowKey(last(), "d"));
  EXPECT_EQ((*load)->Add(deletion.Serialize()).id(), "group.corrupt") << "a copy deletes nothing";
  if (GetParam() > 1) {
    EXPECT_EQ((*load)->Add(BatchesOf(0)[0]).id(), "group.corrupt") << "another shard";
  }
  for (const std::string& batch : batches) EXPECT_TRUE((*load)->Add(batch).ok());
  EXPECT_EQ((*load)->Add(batches[0]).id(), "group.corrupt") << "it is complete";
}

TEST_P(ShardCopyTest, AShardWithoutCommits) {
  DatabaseOptions options = options_;
  options.journal = nullptr;
  const auto empty = *Database::Open(directory_ / "empty", options, clock_);
  const auto copy = *empty->shard_copies().Copy(last());
  EXPECT_EQ(copy->sequence(), 0u);
  const std::string batch = **copy->Next();
  EXPECT_FALSE(*copy->Next());
  LoadAll(last(), {batch});
  EXPECT_EQ(other_->followers().LastSequence(last()), 0u);
  Feed(last());
  for (ShardId shard = 0; shard < last(); ++shard) Feed(shard);
  ExpectSame();
}

INSTANTIATE_TEST_SUITE_P(Shards, ShardCopyTest, ::testing::Values(1, 4));

}  // namespace
}  // namespace sluice::db
