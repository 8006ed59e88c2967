#include "query/transactions.h"

#include <gtest/gtest.h>

#include "db/test_database.h"
#include "query/error.h"

namespace sluice::query {
namespace {

using Action = TransactionStatement::Action;

class TransactionsTest : public db::DatabaseTest {
 protected:
  void SetUp() override {
    db::DatabaseTest::SetUp();
    transactions_ = std::make_unique<Transactions>(*database_, TransactionsOptions{.max_open = 2});
  }
  void TearDown() override { transactions_.reset(); }

  std::string Begin(const std::string& user = "ann") { return *transactions_->Begin(user, {}); }
  Status Run(const std::string& id, Action action, const std::string& savepoint = "") {
    auto lease = transactions_->Use(id, "ann");
    if (!lease) return lease.error();
    return lease->Run({.action = action, .savepoint = savepoint});
  }
  void Put(const std::string& id, const std::string& key, bool keep = true) {
    auto lease = transactions_->Use(id, "ann");
    ASSERT_TRUE(lease) << lease.error().ToString();
    ASSERT_TRUE(lease->transaction().Put(keyspace_, key, Json("1")));
    if (keep) lease->Keep();
  }
  bool Exists(const std::string& key) { return database_->Get(keyspace_, key)->has_value(); }
  static QueryCode NumberOf(const Status& status) { return CodeOf(status); }

  std::unique_ptr<Transactions> transactions_;
};

TEST_F(TransactionsTest, CommitWritesAndEnds) {
  const std::string id = Begin();
  Put(id, "a");
  EXPECT_FALSE(Exists("a"));
  EXPECT_TRUE(Run(id, Action::kCommit).ok());
  EXPECT_TRUE(Exists("a"));
  EXPECT_EQ(NumberOf(Run(id, Action::kCommit)), QueryCode::kTransactionNotFound);
}

TEST_F(TransactionsTest, RollbackWritesNothing) {
  const std::string id = Begin();
  Put(id, "a");
  EXPECT_TRUE(Run(id, Action::kRollback).ok());
  EXPECT_FALSE(Exists("a"));
  EXPECT_EQ(transactions_->size(), 0u);
}

TEST_F(TransactionsTest, AStatementThatFailedIsUndoneAlone) {
  const std::string id = Begin();
  Put(id, "a");
  Put(id, "b", false);
  EXPECT_TRUE(Run(id, Action::kCommit).ok());
  EXPECT_TRUE(Exists("a"));
  EXPECT_FALSE(Exists("b"));
}

TEST_F(TransactionsTest, SavepointsUndoWhatCameLater) {
  const std::string id = Begin();
  Put(id, "a");
  EXPECT_TRUE(Run(id, Action::kSavepoint, "s").ok());
  Put(id, "b");
  EXPECT_TRUE(Run(id, Action::kSavepoint, "later").ok());
  EXPECT_TRUE(Run(id, Action::kRollbackTo, "s").ok());
  EXPECT_EQ(NumberOf(Run(id, Action::kRollbackTo, "later")), QueryCode::kTransaction);
  Put(id, "c");
  EXPECT_TRUE(Run(id, Action::kCommit).ok());
  EXPECT_TRUE(Exists("a"));
  EXPECT_FALSE(Exists("b"));
  EXPECT_TRUE(Exists("c"));
}

TEST_F(TransactionsTest, AConflictSaysToRunItAgain) {
  const std::string id = Begin();
  {
    auto lease = transactions_->Use(id, "ann");
    ASSERT_TRUE(lease->transaction().Get(keyspace_, "a"));
    ASSERT_TRUE(lease->transaction().Put(keyspace_, "b", Json("1")));
    lease->Keep();
  }
  db::Transaction other(*database_);
  ASSERT_TRUE(other.Put(keyspace_, "a", Json("2")));
  ASSERT_TRUE(other.Apply().status.ok());
  const Status status = Run(id, Action::kCommit);
  EXPECT_EQ(NumberOf(status), QueryCode::kCommitConflict);
  EXPECT_NE(status.message().find("run it again"), std::string::npos) << status.message();
  EXPECT_FALSE(Exists("b"));
}

TEST_F(TransactionsTest, ItsTimeIsBounded) {
  const std::string id = Begin();
  clock_.AdvanceMs(14'999);
  EXPECT_TRUE(Run(id, Action::kSavepoint, "s").ok());
  clock_.AdvanceMs(1);
  EXPECT_EQ(NumberOf(Run(id, Action::kCommit)), QueryCode::kTransactionNotFound);
  EXPECT_EQ(transactions_->size(), 0u);
}

TEST_F(TransactionsTest, ARunningStatementIsNotCutOff) {
  const std::string id = Begin();
  {
    auto lease = transactions_->Use(id, "ann");
    clock_.AdvanceMs(20'000);
    transactions_->EndExpired();
    EXPECT_EQ(transactions_->size(), 1u);
    EXPECT_EQ(lease->RemainingMs(), 1u);
  }
  transactions_->EndExpired();
  EXPECT_EQ(transactions_->size(), 0u);
}

TEST_F(TransactionsTest, OneStatementAtATimeOfOneUser) {
  const std::string id = Begin();
  auto lease = transactions_->Use(id, "ann");
  ASSERT_TRUE(lease);
  EXPECT_EQ(NumberOf(transactions_->Use(id, "ann").error()), QueryCode::kTransaction);
  EXPECT_EQ(NumberOf(transactions_->Use(id, "bob").error()), QueryCode::kTransactionNotFound);
  EXPECT_EQ(NumberOf(transactions_->Use("other", "ann").error()), QueryCode::kTransactionNotFound);
}

TEST_F(TransactionsTest, ThereIsAMostOfThem) {
  Begin();
  Begin("bob");
  EXPECT_EQ(NumberOf(transactions_->Begin("ann", {}).error()), QueryCode::kTransaction);
  clock_.AdvanceMs(15'000);
  EXPECT_TRUE(transactions_->Begin("ann", {}));
}

}  // namespace
}  // namespace sluice::query
