#include "db/transaction.h"

#include <thread>

#include <gmock/gmock.h>

#include "db/test_database.h"

namespace sluice::db {
namespace {

using ::testing::ElementsAre;

Status StatusOf(const Result<Cas>& result) { return result ? OkStatus() : result.error(); }

class TransactionTest : public DatabaseTest {
 protected:
  TransactionTest() { options_.durability = Durability::kNone; }

  std::string In(Transaction& transaction, const std::string& key) {
    const auto document = transaction.Get(keyspace_, key);
    EXPECT_TRUE(document) << document.error().ToString();
    return *document ? (*document)->body : "-";
  }
  std::vector<std::string> Keys(Transaction& transaction, const std::string& from = "",
                                const std::string& to = "") {
    std::vector<std::string> keys;
    EXPECT_TRUE(transaction
                    .Scan(keyspace_, from, to,
                          [&](std::string_view key, const DocumentView& document) {
                            keys.push_back(std::string(key) + "=" + std::string(document.body));
                            return true;
                          })
                    .ok());
    return keys;
  }
};

TEST_F(TransactionTest, SeesASnapshotAndItsOwnWrites) {
  ASSERT_TRUE(Put("a", "1").status.ok());
  Transaction transaction(*database_);
  ASSERT_TRUE(Put("before the first read", "1").status.ok());
  EXPECT_EQ(In(transaction, "before the first read"), "1");
  ASSERT_TRUE(Put("later", "1").status.ok());
  EXPECT_EQ(In(transaction, "later"), "-");
  EXPECT_EQ(In(transaction, "a"), "1");
  const Cas cas = *transaction.Put(keyspace_, "b", Json("2"));
  EXPECT_EQ(In(transaction, "b"), "2");
  EXPECT_EQ(Get("b"), "-");
  ASSERT_TRUE(transaction.Delete(keyspace_, "a").ok());
  EXPECT_EQ(In(transaction, "a"), "-");
  EXPECT_EQ(transaction.Delete(keyspace_, "a").id(), "document.not_found");
  EXPECT_EQ(transaction.Insert(keyspace_, "b", Json("3")).error().id(), "document.exists");
  EXPECT_EQ(transaction.Replace(keyspace_, "a", Json("3")).error().id(), "document.not_found");
  EXPECT_TRUE(transaction.Insert(keyspace_, "a", Json("4")));
  // "later" was read as absent and is there now.
  EXPECT_EQ(transaction.Apply().status.id(), "transaction.conflict");
  Transaction again(*database_);
  const Cas promised = *again.Put(keyspace_, "b", Json("2"));
  EXPECT_GT(promised, cas);
  ASSERT_TRUE(again.Apply().status.ok());
  EXPECT_EQ((*database_->Get(keyspace_, "b"))->cas, promised);
}

TEST_F(TransactionTest, WritesThatDependOnThePresentDocument) {
  const uint64_t soon_ms = clock_.WallMs() + 60'000;
  Document first = Json("1", soon_ms);
  first.flags = 7;
  first.xattrs = R"({"x":1})";
  ASSERT_TRUE(Apply(PutWrite(keyspace_, "a", first)).status.ok());
  ASSERT_TRUE(Put("b", "1").status.ok());
  const Cas cas = (*database_->Get(keyspace_, "a"))->cas;
  Transaction transaction(*database_);
  EXPECT_EQ(transaction.Replace(keyspace_, "a", Json("2"), {.cas = cas + 1}).error().id(),
            "document.cas_mismatch");
  EXPECT_EQ(transaction.Delete(keyspace_, "a", cas + 1).id(), "document.cas_mismatch");
  EXPECT_EQ(transaction.Put(keyspace_, "none", Json("2"), {.cas = cas}).error().id(),
            "document.not_found");
  EXPECT_EQ(transaction.Touch(keyspace_, "none", 0).error().id(), "document.not_found");
  const Cas own = *transaction.Put(keyspace_, "a", Json("2"), {.cas = cas, .keep_expiry = true});
  EXPECT_EQ((*transaction.Get(keyspace_, "a"))->expiry_ms, soon_ms);
  EXPECT_EQ((*transaction.Get(keyspace_, "a"))->flags, 0u) << "the given document has none";
  EXPECT_EQ(transaction.Delete(keyspace_, "a", cas).id(), "document.cas_mismatch");
  ASSERT_TRUE(transaction.Delete(keyspace_, "a", own).ok());
  ASSERT_TRUE(transaction.Put(keyspace_, "a", first, {.keep_expiry = true}));
  ASSERT_TRUE(transaction.Touch(keyspace_, "a", soon_ms + 1));
  ASSERT_TRUE(transaction.Touch(keyspace_, "b", soon_ms));
  ASSERT_TRUE(transaction.Put(keyspace_, "c", Json("3", soon_ms), {.keep_expiry = true}));
  ASSERT_TRUE(transaction.Apply().status.ok());
  const Document a = **database_->Get(keyspace_, "a");
  EXPECT_EQ(a.body, "1");
  EXPECT_EQ(a.flags, 7u);
  EXPECT_EQ(a.xattrs, first.xattrs);
  EXPECT_EQ(a.expiry_ms, soon_ms + 1);
  EXPECT_EQ((*database_->Get(keyspace_, "b"))->expiry_ms, soon_ms);
  EXPECT_EQ((*database_->Get(keyspace_, "c"))->expiry_ms, soon_ms);
  clock_.AdvanceMs(60'000);
  EXPECT_EQ(Get("b"), "-");
}

TEST_F(TransactionTest, ScansMergeItsOwnWrites) {
  for (const char* key : {"b", "d", "f"}) ASSERT_TRUE(Put(key, "0").status.ok());
  Transaction transaction(*database_);
  ASSERT_TRUE(transaction.Put(keyspace_, "a", Json("1")));
  ASSERT_TRUE(transaction.Put(keyspace_, "d", Json("1")));
  ASSERT_TRUE(transaction.Put(keyspace_, "e", Json("1")));
  ASSERT_TRUE(transaction.Put(keyspace_, "z", Json("1")));
  ASSERT_TRUE(transaction.Delete(keyspace_, "b").ok());
  EXPECT_THAT(Keys(transaction), ElementsAre("a=1", "d=1", "e=1", "f=0", "z=1"));
  EXPECT_THAT(Keys(transaction, "b", "f"), ElementsAre("d=1", "e=1"));
  size_t given = 0;
  ASSERT_TRUE(transaction
                  .Scan(keyspace_, "", "",
                        [&](std::string_view, const DocumentView&) { return ++given < 2; })
                  .ok());
  EXPECT_EQ(given, 2u);
}

TEST_F(TransactionTest, Savepoints) {
  ASSERT_TRUE(Put("a", "0").status.ok());
  Transaction transaction(*database_);
  ASSERT_TRUE(transaction.Put(keyspace_, "a", Json("1")));
  const size_t savepoint = transaction.Savepoint();
  ASSERT_TRUE(transaction.Put(keyspace_, "a", Json("2")));
  ASSERT_TRUE(transaction.Put(keyspace_, "b", Json("2")));
  ASSERT_TRUE(transaction.Delete(keyspace_, "a").ok());
  transaction.RollbackTo(savepoint);
  EXPECT_EQ(In(transaction, "a"), "1");
  EXPECT_EQ(In(transaction, "b"), "-");
  transaction.RollbackTo(0);
  EXPECT_EQ(In(transaction, "a"), "0");
  EXPECT_EQ(transaction.writes(), 0u);
}

TEST_F(TransactionTest, LostUpdatesArePrevented) {
  ASSERT_TRUE(Put("n", "0").status.ok());
  Transaction first(*database_);
  Transaction second(*database_);
  for (Transaction* one : {&first, &second}) {
    const int value = std::stoi(In(*one, "n"));
    ASSERT_TRUE(one->Put(keyspace_, "n", Json(std::to_string(value + 1))));
  }
  EXPECT_TRUE(first.Apply().status.ok());
  EXPECT_EQ(second.Apply().status.id(), "transaction.conflict");
  EXPECT_EQ(Get("n"), "1");
}

TEST_F(TransactionTest, WriteSkewIsPrevented) {
  for (const char* key : {"x", "y"}) ASSERT_TRUE(Put(key, "on").status.ok());
  Transaction first(*database_);
  Transaction second(*database_);
  for (Transaction* one : {&first, &second}) {
    EXPECT_EQ(In(*one, "x") + In(*one, "y"), "onon");
  }
  ASSERT_TRUE(first.Put(keyspace_, "x", Json("off")));
  ASSERT_TRUE(second.Put(keyspace_, "y", Json("off")));
  EXPECT_TRUE(first.Apply().status.ok());
  EXPECT_EQ(second.Apply().status.id(), "transaction.conflict");
}

TEST_F(TransactionTest, SnapshotIsolationChecksOnlyWhatIsWritten) {
  ASSERT_TRUE(Put("read", "1").status.ok());
  ASSERT_TRUE(Put("both", "1").status.ok());
  Transaction looks(*database_, Isolation::kSnapshot);
  EXPECT_EQ(In(looks, "read"), "1");
  EXPECT_EQ(Keys(looks).size(), 2u);
  ASSERT_TRUE(looks.Put(keyspace_, "other", Json("1")));
  ASSERT_TRUE(Put("read", "2").status.ok());
  EXPECT_TRUE(looks.Apply().status.ok());

  Transaction counts(*database_, Isolation::kSnapshot);
  EXPECT_EQ(In(counts, "both"), "1");
  ASSERT_TRUE(counts.Put(keyspace_, "both", Json("2")));
  ASSERT_TRUE(Put("both", "5").status.ok());
  EXPECT_EQ(counts.Apply().status.id(), "transaction.conflict");
}

TEST_F(TransactionTest, UnstampedWritesGetTheirStampWhenLookedAtOrCommitted) {
  Transaction transaction(*database_);
  EXPECT_EQ(*transaction.Put(keyspace_, "a", Json("1"), {.unstamped = true}), 0u);
  EXPECT_EQ(*transaction.Put(keyspace_, "b", Json("1"), {.unstamped = true}), 0u);
  const Cas seen = (*transaction.Get(keyspace_, "b"))->cas;
  EXPECT_NE(seen, 0u);
  ASSERT_TRUE(transaction.Apply().status.ok());
  EXPECT_NE((*database_->Get(keyspace_, "a"))->cas, 0u);
  EXPECT_EQ((*database_->Get(keyspace_, "b"))->cas, seen);
}

TEST_F(TransactionTest, AnonymousWritesHaveNoOrigin) {
  Transaction transaction(*database_);
  ASSERT_TRUE(transaction.Put(keyspace_, "a", Json("1"), {.anonymous = true}));
  ASSERT_TRUE(transaction.Put(keyspace_, "b", Json("1")));
  ASSERT_TRUE(transaction.Put(keyspace_, "c", Json("1"), {.anonymous = true}));
  const size_t savepoint = transaction.Savepoint();
  ASSERT_TRUE(transaction.Put(keyspace_, "a", Json("2")));
  ASSERT_TRUE(transaction.Put(keyspace_, "b", Json("2"), {.anonymous = true}));
  transaction.RollbackTo(savepoint);
  ASSERT_TRUE(transaction.Put(keyspace_, "c", Json("2")));
  std::string anonymous;
  for (const Write& write : transaction.TakeCommit().writes) {
    if (write.anonymous) anonymous += write.key;
  }
  EXPECT_EQ(anonymous, "a");
}

TEST_F(TransactionTest, PhantomsArePrevented) {
  ASSERT_TRUE(Put("a", "1").status.ok());
  const auto scan_and_write = [&](const std::function<void()>& meanwhile) {
    Transaction transaction(*database_);
    Keys(transaction, "a", "c");
    EXPECT_TRUE(transaction.Put(keyspace_, "count", Json("1")));
    meanwhile();
    return transaction.Apply().status;
  };
  EXPECT_EQ(scan_and_write([&] { ASSERT_TRUE(Put("b", "1").status.ok()); }).id(),
            "transaction.conflict");
  EXPECT_EQ(scan_and_write([&] { ASSERT_TRUE(Delete("b").status.ok()); }).id(),
            "transaction.conflict");
  EXPECT_TRUE(scan_and_write([&] { ASSERT_TRUE(Put("x", "1").status.ok()); }).ok());
}

TEST_F(TransactionTest, RangesSeeDeletionsThatLeftNothingBehind) {
  ASSERT_TRUE(database_->admin().CreateCollection({"b", "_default", "c"}).ok());
  const KeyspaceId other = *database_->Resolve({"b", "_default", "c"});
  const auto scan_and_write = [&](const std::function<void()>& meanwhile) {
    EXPECT_TRUE(Put("a", "1").status.ok());
    Transaction transaction(*database_);
    Keys(transaction);
    EXPECT_TRUE(transaction.Put(other, "count", Json("1")));
    meanwhile();
    return transaction.Apply().status.id();
  };
  EXPECT_EQ(scan_and_write([&] {
              ASSERT_TRUE(Delete("a").status.ok());
              clock_.AdvanceMs(options_.tombstone_retention_ms + 1);
              ASSERT_TRUE(database_->operations().ExpireNow());
            }),
            "transaction.conflict");
  EXPECT_EQ(scan_and_write(
                [&] { ASSERT_TRUE(database_->admin().FlushCollection({.bucket = "b"}).ok()); }),
            "transaction.conflict");
  EXPECT_EQ(
      scan_and_write([&] { ASSERT_TRUE(database_->admin().DropCollection({.bucket = "b"}).ok()); }),
      "transaction.conflict");
}

TEST_F(TransactionTest, ABlindWriteWithAnOldStampIsRunAgain) {
  int runs = 0;
  const auto result = RunTransaction(*database_, [&](Transaction& transaction) -> Status {
    RETURN_IF_ERROR(StatusOf(transaction.Put(keyspace_, "k", Json("mine"))));
    if (++runs == 1) {
      EXPECT_TRUE(Put("k", "theirs").status.ok());
    }
    return OkStatus();
  });
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(Get("k"), "mine");
}

TEST_F(TransactionTest, ErrorsOfTheBodyEndIt) {
  int runs = 0;
  const auto result = RunTransaction(*database_, [&](Transaction& transaction) -> Status {
    ++runs;
    RETURN_IF_ERROR(StatusOf(transaction.Put(keyspace_, "k", Json("1"))));
    return Error(Code::kNotFound, "document.not_found", "no");
  });
  EXPECT_EQ(result.error().id(), "document.not_found");
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(Get("k"), "-");
}

TEST_F(TransactionTest, ConcurrentIncrementsAreExact) {
  constexpr int kThreads = 4;
  constexpr int kEach = 50;
  ASSERT_TRUE(Put("n", "0").status.ok());
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < kEach; ++n) {
        const auto result = RunTransaction(*database_, [&](Transaction& transaction) -> Status {
          ASSIGN_OR_RETURN(const auto document, transaction.Get(keyspace_, "n"));
          const int value = std::stoi(document->body);
          return StatusOf(transaction.Put(keyspace_, "n", Json(std::to_string(value + 1))));
        });
        EXPECT_TRUE(result) << result.error().ToString();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Get("n"), std::to_string(kThreads * kEach));
}

// With many reads the committer looks only at documents that were written since: whatever happened
// to one of them meanwhile is noticed, in this group of commits or before.
TEST_F(TransactionTest, OneOfManyReadsThatChangedIsNoticed) {
  constexpr int kKeys = 100;
  const auto key = [](int i) { return "k" + std::to_string(i); };
  for (int i = 0; i < kKeys; i += 2) ASSERT_TRUE(Put(key(i), "0").status.ok());
  const std::vector<std::function<void()>> meanwhile = {
      [] {},
      [&] { EXPECT_TRUE(Put(key(40), "theirs").status.ok()); },
      [&] { EXPECT_TRUE(Put(key(41), "theirs").status.ok()); },
      [&] {
        Transaction other(*database_);
        EXPECT_TRUE(other.Delete(keyspace_, key(42)).ok());
        EXPECT_TRUE(other.Apply().status.ok());
      },
      [&] { EXPECT_TRUE(database_->admin().FlushCollection({.bucket = "b"}).ok()); },
  };
  for (size_t change = 0; change < meanwhile.size(); ++change) {
    Transaction transaction(*database_);
    for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(transaction.Get(keyspace_, key(i)));
    ASSERT_TRUE(transaction.Put(keyspace_, "sum", Json(std::to_string(change))));
    meanwhile[change]();
    EXPECT_EQ(transaction.Apply().status.id(), change == 0 ? "" : "transaction.conflict") << change;
  }
}

TEST_F(TransactionTest, ManyInsertsUpdatesAndDeletesInOne) {
  constexpr int kKeys = 60;
  const auto key = [](int i) { return "k" + std::to_string(i); };
  for (int round = 0; round < 2; ++round) {
    Transaction transaction(*database_);
    for (int i = 0; i < kKeys; ++i) {
      ASSERT_TRUE(transaction.Insert(keyspace_, key(i), Json("new")));
      if (i % 3 == 1) {
        ASSERT_TRUE(transaction.Replace(keyspace_, key(i), Json("newer")));
      } else if (i % 3 == 2) {
        ASSERT_TRUE(transaction.Delete(keyspace_, key(i)).ok());
      }
    }
    ASSERT_TRUE(transaction.Apply().status.ok());
    for (int i = 0; i < kKeys; ++i) {
      EXPECT_EQ(Get(key(i)), std::vector<std::string>({"new", "newer", "-"})[i % 3]);
    }
    Transaction removal(*database_);
    for (int i = 0; i < kKeys; ++i) {
      if (i % 3 == 2) continue;
      ASSERT_TRUE(removal.Delete(keyspace_, key(i)).ok());
    }
    ASSERT_TRUE(removal.Apply().status.ok());
    for (int i = 0; i < kKeys; ++i) EXPECT_EQ(Get(key(i)), "-");
  }
}

class ShardedTransactionTest : public TransactionTest {
 protected:
  ShardedTransactionTest() { options_.shards = 4; }
};

TEST_F(ShardedTransactionTest, RowsAndCursorsAreInTheShardOfTheCommit) {
  Commit moves;
  moves.cursor_moves.push_back({{"f", 1, 0}, {}, {}});
  EXPECT_EQ(database_->Apply(std::move(moves)).status.id(), "commit.cross_shard");
  Commit rows;
  rows.rows.push_back({RowFamily::kRun, 1, "r", "1", {}});
  EXPECT_EQ(database_->Apply(std::move(rows)).status.id(), "commit.cross_shard");
  Commit ranges;
  ranges.ranges.push_back({.keyspace = keyspace_, .shard = 4});
  EXPECT_EQ(database_->Apply(std::move(ranges)).status.id(), "commit.cross_shard");
  Commit nowhere;
  nowhere.shard = 4;
  EXPECT_EQ(database_->Apply(std::move(nowhere)).status.id(), "commit.malformed");
}

// The write that would make the commit too large fails, and what was written before can be
// committed.
TEST_F(TransactionTest, KeepsToTheLimitsOfACommit) {
  options_.commit_limits = {.writes = 3, .bytes = 1000};
  Reopen();
  Transaction transaction(*database_);
  ASSERT_TRUE(transaction.Put(keyspace_, "a", Json("1")));
  ASSERT_TRUE(transaction.Put(keyspace_, "b", Json("1")));
  ASSERT_TRUE(transaction.Insert(keyspace_, "c", Json("1")));
  const Result<Cas> fourth = transaction.Put(keyspace_, "d", Json("1"));
  EXPECT_EQ(StatusOf(fourth).ToString(),
            "commit.too_large: a commit has at most 3 writes (storage.max_commit_writes), got 4");
  EXPECT_EQ(In(transaction, "d"), "-");
  // One that replaces another is no further one, also a deletion.
  ASSERT_TRUE(transaction.Put(keyspace_, "a", Json("\"" + std::string(900, 'x') + "\"")));
  const size_t savepoint = transaction.Savepoint();
  EXPECT_EQ(
      StatusOf(transaction.Put(keyspace_, "b", Json("\"" + std::string(100, 'x') + "\""))).id(),
      "commit.too_large");
  ASSERT_TRUE(transaction.Delete(keyspace_, "a").ok());
  ASSERT_TRUE(transaction.Put(keyspace_, "b", Json("\"" + std::string(100, 'x') + "\"")));
  transaction.RollbackTo(savepoint);
  EXPECT_EQ(
      StatusOf(transaction.Put(keyspace_, "b", Json("\"" + std::string(100, 'x') + "\""))).id(),
      "commit.too_large");
  EXPECT_TRUE(transaction.Put(keyspace_, "b", Json("2")));
  EXPECT_TRUE(transaction.Apply().status.ok());
  EXPECT_EQ(Get("b"), "2");
}

}  // namespace
}  // namespace sluice::db
