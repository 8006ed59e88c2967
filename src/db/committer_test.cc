// Groups, bounds, stopping, and appends that fail.
#include "db/committer.h"

#include <algorithm>
#include <future>
#include <thread>

#include <gmock/gmock.h>

#include "db/catalog_edit.h"
#include "db/test_database.h"
#include "db/test_formats.h"
#include "db/test_journal.h"

namespace sluice::db {
namespace {

class CommitterTest : public ::testing::Test {
 protected:
  CommitterTest() {
    store_ = std::move(*storage::Store::Open(directory_ / "store", {}));
    journal_ = std::make_unique<FaultyJournal>(*store_);
    CatalogEdit edit{Catalog()};
    CHECK(edit.CreateBucket("b").ok());
    catalog_ = edit.Finish();
    keyspace_ = (*catalog_->Resolve({.bucket = "b"}))->id;
    Start({.tombstone_retention_ms = 1000, .max_queued_commits = 100, .max_queued_bytes = 1 << 20});
  }
  void Start(CommitterOptions options) {
    committer_.reset();
    StartWith(*journal_, options);
  }
  void StartWith(Journal& journal, CommitterOptions options) {
    committer_ = std::make_unique<Committer>(
        0, *store_, journal, clock_, stamps_, [this] { return catalog_; },
        [](const storage::Batch&, const Committed&) {}, ShardState(), options);
    CHECK(committer_->Start().ok());
  }

  Commit Put(const std::string& key, std::string body = "1") {
    Document document;
    document.body = std::move(body);
    Commit commit;
    commit.writes.push_back(PutWrite(keyspace_, key, std::move(document)));
    return commit;
  }
  std::future<CommitResult> Submit(Commit commit) {
    auto promise = std::make_shared<std::promise<CommitResult>>();
    committer_->Submit(std::move(commit),
                       [promise](CommitResult result) { promise->set_value(std::move(result)); });
    return promise->get_future();
  }
  // Returns when the committer waits inside an append, so that what comes now forms one group.
  std::future<CommitResult> HoldAppend() {
    journal_->hold = true;
    const int before = journal_->appends;
    auto first = Submit(Put("first"));
    journal_->appends.wait(before);
    return first;
  }
  void LetGo() {
    journal_->hold = false;
    journal_->held.release();
  }
  bool Stored(const std::string& key) {
    std::string value;
    return *store_->Get(storage::Family::kDocs, DocumentKey(0, keyspace_, key), &value);
  }

  TestDirectory directory_;
  FakeClock clock_;
  HybridClock stamps_{clock_, 0};
  std::unique_ptr<storage::Store> store_;
  std::unique_ptr<FaultyJournal> journal_;
  std::shared_ptr<const Catalog> catalog_;
  KeyspaceId keyspace_ = 0;
  std::unique_ptr<Committer> committer_;
};

TEST_F(CommitterTest, WhatWaitsIsOneGroup) {
  auto first = HoldAppend();
  std::vector<std::future<CommitResult>> rest;
  for (int i = 0; i < 10; ++i) rest.push_back(Submit(Put("k" + std::to_string(i))));
  LetGo();
  EXPECT_EQ(first.get().sequence, 1u);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(rest[i].get().sequence, 2u + i);
  EXPECT_EQ(journal_->appends, 2);
  EXPECT_EQ(committer_->last_sequence(), 11u);
}

TEST_F(CommitterTest, CommitsOfAGroupSeeEachOther) {
  auto first = HoldAppend();
  Commit insert = Put("k");
  insert.writes[0].precondition = Precondition::Absent();
  Commit again = Put("k");
  again.writes[0].precondition = Precondition::Absent();
  Commit reads = Put("other");
  reads.reads.push_back({keyspace_, "k", 0});
  Commit scans = Put("other");
  scans.ranges.push_back({keyspace_, "a", "", 1});
  auto inserted = Submit(std::move(insert));
  auto repeated = Submit(std::move(again));
  auto stale = Submit(std::move(reads));
  auto phantom = Submit(std::move(scans));
  LetGo();
  EXPECT_TRUE(inserted.get().status.ok());
  EXPECT_EQ(repeated.get().status.id(), "document.exists");
  EXPECT_EQ(stale.get().status.id(), "transaction.conflict");
  EXPECT_EQ(phantom.get().status.id(), "transaction.conflict");
  EXPECT_FALSE(Stored("other"));
  EXPECT_EQ(committer_->last_sequence(), 2u);
}

TEST_F(CommitterTest, AFailedAppendFailsTheWholeGroupAndLeavesNothing) {
  ASSERT_TRUE(committer_->Apply(Put("before")).status.ok());
  auto first = HoldAppend();
  std::vector<std::future<CommitResult>> rest;
  for (int i = 0; i < 5; ++i) rest.push_back(Submit(Put("k" + std::to_string(i))));
  journal_->failing = true;
  LetGo();
  EXPECT_EQ(first.get().status.id(), "storage.no_space");
  for (auto& one : rest) {
    const CommitResult result = one.get();
    EXPECT_EQ(result.status.id(), "storage.no_space");
    EXPECT_EQ(result.sequence, 0u);
    EXPECT_TRUE(result.writes.empty());
  }
  EXPECT_FALSE(Stored("first"));
  EXPECT_FALSE(Stored("k0"));
  EXPECT_TRUE(Stored("before"));
  EXPECT_EQ(committer_->last_sequence(), 1u);
  EXPECT_EQ(committer_->Stats().failure.id(), "storage.no_space");
}

TEST_F(CommitterTest, GoesOnAfterRecovery) {
  ASSERT_TRUE(committer_->Apply(Put("a")).status.ok());
  journal_->failing = true;
  EXPECT_FALSE(committer_->Apply(Put("b")).status.ok());
  const int appends = journal_->appends;
  // Not at every commit: the journal is asked at most once a second.
  EXPECT_FALSE(committer_->Apply(Put("b")).status.ok());
  EXPECT_EQ(journal_->recoveries, 0);
  clock_.AdvanceMs(1000);
  EXPECT_FALSE(committer_->Apply(Put("b")).status.ok());
  EXPECT_EQ(journal_->recoveries, 1);
  EXPECT_EQ(journal_->appends, appends);
  EXPECT_EQ(committer_->Run([](Committer::TaskContext&) { return OkStatus(); }).id(),
            "storage.no_space");
  journal_->failing = false;
  clock_.AdvanceMs(1000);
  const CommitResult result = committer_->Apply(Put("b"));
  EXPECT_TRUE(result.status.ok());
  EXPECT_EQ(result.sequence, 2u) << "a failed group uses no sequence";
  EXPECT_TRUE(committer_->Stats().failure.ok());
}

TEST_F(CommitterTest, AFailedTaskChangesNothing) {
  ASSERT_TRUE(committer_->Apply(Put("a")).status.ok());
  bool published = false;
  const auto trim = [&](Committer::TaskContext& context) {
    context.state.trimmed = 1;
    context.state.purged = 1;
    context.published = [&] { published = true; };
    return OkStatus();
  };
  journal_->failing = true;
  EXPECT_FALSE(committer_->Run(trim).ok());
  EXPECT_FALSE(published);
  EXPECT_EQ(committer_->trimmed(), 0u);
  EXPECT_EQ(committer_->purged(), 0u);
  EXPECT_EQ(committer_->last_sequence(), 1u);
  journal_->failing = false;
  clock_.AdvanceMs(1000);
  EXPECT_TRUE(committer_->Run(trim).ok());
  EXPECT_TRUE(published);
  EXPECT_EQ(committer_->trimmed(), 1u);
  EXPECT_EQ(committer_
                ->Run([](Committer::TaskContext&) {
                  return Error(Code::kNotFound, "index.not_found", "no");
                })
                .id(),
            "index.not_found");
  EXPECT_EQ(committer_->last_sequence(), 2u);
}

TEST_F(CommitterTest, TheQueueIsBounded) {
  Start({.max_queued_commits = 3, .max_queued_bytes = 4000});
  auto first = HoldAppend();
  std::vector<std::future<CommitResult>> queued;
  for (int i = 0; i < 3; ++i) queued.push_back(Submit(Put("k" + std::to_string(i))));
  EXPECT_EQ(Submit(Put("more")).get().status.id(), "commit.overloaded");
  LetGo();
  for (auto& one : queued) EXPECT_TRUE(one.get().status.ok());
  EXPECT_TRUE(first.get().status.ok());
  auto again = HoldAppend();
  auto large = Submit(Put("large", std::string(10'000, '1')));  // alone it may be
  EXPECT_EQ(Submit(Put("more")).get().status.id(), "commit.overloaded");
  LetGo();
  EXPECT_TRUE(large.get().status.ok());
  EXPECT_TRUE(again.get().status.ok());
}

TEST_F(CommitterTest, StopCompletesEverything) {
  auto first = HoldAppend();
  std::vector<std::future<CommitResult>> queued;
  for (int i = 0; i < 20; ++i) queued.push_back(Submit(Put("k" + std::to_string(i))));
  std::thread stopper([&] { committer_->Stop(); });
  LetGo();
  stopper.join();
  EXPECT_TRUE(first.get().status.ok());
  for (auto& one : queued) EXPECT_TRUE(one.get().status.ok());
  EXPECT_EQ(Submit(Put("late")).get().status.id(), "commit.stopping");
  EXPECT_EQ(committer_->Run([](Committer::TaskContext&) { return OkStatus(); }).id(),
            "commit.stopping");
}

TEST_F(CommitterTest, ListenersHearOfGroupsUntilTheyLeave) {
  std::atomic<Sequence> heard = 0;
  std::promise<void> inside;
  std::promise<void> leave;
  auto token = committer_->OnCommitted([&](const Committed& committed) {
    if (heard == 0) {
      inside.set_value();
      leave.get_future().wait();
    }
    heard = committed.sequence;
  });
  auto first = Submit(Put("a"));
  inside.get_future().wait();
  std::atomic<bool> gone = false;
  std::thread releaser([&] {
    token.reset();
    gone = true;
    EXPECT_EQ(heard, 1u) << "letting go waits for a call that runs";
  });
  EXPECT_FALSE(gone);
  leave.set_value();
  releaser.join();
  ASSERT_TRUE(committer_->Apply(Put("b")).status.ok());
  committer_->Stop();
  EXPECT_EQ(heard, 1u);
}

// --- a journal that answers later
// -----------------------------------------------------------------

class AsyncCommitterTest : public CommitterTest {
 protected:
  AsyncCommitterTest() { Begin(0); }
  ~AsyncCommitterTest() override { committer_.reset(); }
  void Begin(uint64_t answer_within_ms) {
    committer_.reset();
    manual_ = std::make_unique<ManualJournal>();
    StartWith(*manual_, {.tombstone_retention_ms = 1000,
                         .max_queued_commits = 100,
                         .max_queued_bytes = 1 << 20,
                         .answer_within_ms = answer_within_ms});
  }
  // Submits one commit, which becomes a group of its own, and waits for its append.
  std::future<CommitResult> Send(Commit commit) {
    const int before = manual_->appends;
    auto result = Submit(std::move(commit));
    manual_->Await(before + 1);
    return result;
  }
  // The committer looks again after a time that it counts from a moment which the test can't see.
  void AdvanceUntil(const std::function<bool()>& holds) {
    for (; !holds(); std::this_thread::yield()) clock_.AdvanceMs(100);
  }
  static bool IsReady(const std::future<CommitResult>& result) {
    return result.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  using Outcome = Journal::Outcome;

  std::unique_ptr<ManualJournal> manual_;
};

TEST_F(AsyncCommitterTest, GroupsAreBuiltUponThoseOnTheirWay) {
  auto first = Send(Put("a"));
  Commit again = Put("a");
  again.writes[0].precondition = Precondition::Absent();
  auto refused = Submit(std::move(again));
  Commit replaces = Put("a", "2");
  replaces.writes[0].precondition = Precondition::Present();
  auto second = Send(std::move(replaces));
  Commit reads = Put("b");
  reads.reads.push_back({keyspace_, "a", 2});
  auto third = Send(std::move(reads));
  EXPECT_FALSE(Stored("a")) << "nothing is visible before it is committed";
  EXPECT_EQ(committer_->last_sequence(), 0u);
  manual_->Answer(2, Outcome::kCommitted);
  manual_->Answer(1, Outcome::kCommitted);
  EXPECT_FALSE(IsReady(second)) << "answers are in order";
  EXPECT_FALSE(IsReady(refused)) << "what it was refused for is not durable";
  manual_->Answer(0, Outcome::kCommitted);
  EXPECT_EQ(first.get().sequence, 1u);
  EXPECT_EQ(refused.get().status.id(), "document.exists");
  EXPECT_EQ(second.get().sequence, 2u);
  EXPECT_EQ(third.get().sequence, 3u);
  EXPECT_TRUE(Stored("a"));
  EXPECT_TRUE(Stored("b"));
}

TEST_F(AsyncCommitterTest, GroupsInFlightAreBounded) {
  std::vector<std::future<CommitResult>> results;
  for (int i = 0; i < 4; ++i) results.push_back(Send(Put("k" + std::to_string(i))));
  for (int i = 4; i < 10; ++i) results.push_back(Submit(Put("k" + std::to_string(i))));
  manual_->Answer(0, Outcome::kCommitted);
  manual_->Await(5);
  EXPECT_EQ(results[0].get().sequence, 1u);
  for (int i = 0; i < 4; ++i) manual_->Answer(0, Outcome::kCommitted);
  for (int i = 1; i < 10; ++i) EXPECT_EQ(results[i].get().sequence, 1u + i);
  EXPECT_EQ(manual_->appends, 5) << "what waited is one group";
}

TEST_F(AsyncCommitterTest, AFailureTakesTheGroupsUponItAlong) {
  auto before = Send(Put("before"));
  auto failed = Send(Put("failed"));
  auto upon = Send(Put("upon"));
  manual_->Answer(0, Outcome::kCommitted);
  EXPECT_TRUE(before.get().status.ok());
  manual_->Answer(0, Outcome::kFailed);
  EXPECT_FALSE(IsReady(failed)) << "not before all appends are answered";
  manual_->Answer(0, Outcome::kRefused);
  EXPECT_EQ(failed.get().status.id(), "storage.no_space");
  EXPECT_EQ(upon.get().status.id(), "storage.no_space");
  EXPECT_EQ(committer_->last_sequence(), 1u);
  clock_.AdvanceMs(1000);
  auto next = Send(Put("next"));
  manual_->Answer(0, Outcome::kCommitted);
  EXPECT_EQ(next.get().sequence, 2u);
  EXPECT_FALSE(Stored("failed"));
  EXPECT_FALSE(Stored("upon"));
}

TEST_F(AsyncCommitterTest, ARefusedGroupEndsTheCommitter) {
  auto refused = Send(Put("a"));
  auto upon = Send(Put("b"));
  manual_->Answer(0, Outcome::kRefused);
  manual_->Answer(0, Outcome::kRefused);
  EXPECT_EQ(refused.get().status.id(), "commit.shard_lost");
  EXPECT_EQ(upon.get().status.id(), "commit.shard_lost");
  EXPECT_EQ(Submit(Put("c")).get().status.id(), "commit.shard_lost");
  EXPECT_EQ(committer_->Run([](Committer::TaskContext&) { return OkStatus(); }).id(),
            "commit.shard_lost");
  clock_.AdvanceMs(10'000);
  EXPECT_EQ(Submit(Put("c")).get().status.id(), "commit.shard_lost");
  EXPECT_EQ(committer_->Stats().failure.id(), "commit.shard_lost");
  EXPECT_EQ(manual_->appends, 2);
  EXPECT_FALSE(Stored("a"));
}

TEST_F(AsyncCommitterTest, AnUnknownOutcomeIsAskedForUntilItIsKnown) {
  auto stored = Send(Put("stored"));
  auto lost = Send(Put("lost"));
  manual_->Answer(0, Outcome::kUnknown);
  manual_->Answer(0, Outcome::kUnknown);
  AdvanceUntil([&] { return manual_->asked == 1; });
  auto queued = Submit(Put("queued"));
  AdvanceUntil([&] { return manual_->asked == 2; });
  EXPECT_FALSE(IsReady(stored));
  EXPECT_FALSE(Stored("stored"));
  EXPECT_EQ(manual_->appends, 2) << "it takes nothing meanwhile";
  manual_->SetPosition(Journal::Position{1, false});
  AdvanceUntil([&] { return IsReady(stored); });
  EXPECT_EQ(stored.get().sequence, 1u);
  EXPECT_EQ(lost.get().status.id(), "commit.not_stored");
  EXPECT_TRUE(Stored("stored"));
  manual_->Await(3);
  manual_->Answer(0, Outcome::kCommitted);
  EXPECT_EQ(queued.get().sequence, 2u);
  EXPECT_FALSE(Stored("lost"));
  EXPECT_TRUE(committer_->Stats().failure.ok());
}

TEST_F(AsyncCommitterTest, SomebodyElseHasAppendedBehindAnUnknownGroup) {
  auto stored = Send(Put("stored"));
  auto lost = Send(Put("lost"));
  manual_->SetPosition(Journal::Position{1, true});
  manual_->Answer(1, Outcome::kRefused);
  manual_->Answer(0, Outcome::kUnknown);
  EXPECT_EQ(stored.get().sequence, 1u);
  EXPECT_EQ(lost.get().status.id(), "commit.shard_lost");
  EXPECT_EQ(Submit(Put("c")).get().status.id(), "commit.shard_lost");
  EXPECT_TRUE(Stored("stored"));
}

TEST_F(AsyncCommitterTest, CallersWaitOnlySoLong) {
  Begin(5000);
  auto slow = Send(Put("slow"));
  clock_.AdvanceMs(4999);
  auto upon = Send(Put("upon"));
  EXPECT_FALSE(IsReady(slow));
  clock_.AdvanceMs(1);
  EXPECT_EQ(slow.get().status.id(), "commit.unknown");
  EXPECT_EQ(Submit(Put("queued")).get().status.id(), "commit.not_stored");
  EXPECT_FALSE(IsReady(upon));
  manual_->Answer(0, Outcome::kCommitted);
  manual_->Answer(0, Outcome::kCommitted);
  EXPECT_EQ(upon.get().sequence, 2u);
  EXPECT_TRUE(Stored("slow")) << "it did happen";
  auto next = Send(Put("next"));
  manual_->Answer(0, Outcome::kCommitted);
  EXPECT_EQ(next.get().sequence, 3u);
}

TEST_F(AsyncCommitterTest, TasksAreAlone) {
  auto before = Send(Put("before"));
  std::atomic<bool> ran = false;
  bool published = false;
  std::thread runner([&] {
    EXPECT_TRUE(committer_
                    ->Run([&](Committer::TaskContext& context) {
                      EXPECT_TRUE(Stored("before")) << "nothing is on its way";
                      context.published = [&] { published = true; };
                      ran = true;
                      ran.notify_all();
                      return OkStatus();
                    })
                    .ok());
  });
  manual_->Answer(0, Outcome::kCommitted);
  EXPECT_TRUE(before.get().status.ok());
  ran.wait(false);
  manual_->Await(2);
  auto behind = Submit(Put("behind"));
  EXPECT_FALSE(published);
  manual_->Answer(0, Outcome::kCommitted);
  runner.join();
  EXPECT_TRUE(published);
  manual_->Await(3);
  manual_->Answer(0, Outcome::kCommitted);
  EXPECT_EQ(behind.get().sequence, 3u);
}

TEST_F(AsyncCommitterTest, StoppingDoesNotWaitForAJournalThatIsAway) {
  auto unknown = Send(Put("a"));
  auto queued = Submit(Put("b"));
  manual_->Await(2);
  manual_->Answer(1, Outcome::kUnknown);
  manual_->Answer(0, Outcome::kUnknown);
  committer_->Stop();
  EXPECT_EQ(unknown.get().status.id(), "commit.unknown");
  EXPECT_EQ(queued.get().status.id(), "commit.unknown");
}

TEST(ShardStateFormat, Golden) {
  const ShardState state{.sequence = 1, .clock = 2, .trimmed = 3, .purged = 4, .has_xattrs = true};
  EXPECT_EQ(ToHex(ShardState::Key(0x0102)), "01027368617264");
  EXPECT_EQ(ToHex(state.Encode()),
            "02000000000000000100000000000000020000000000000003000000000000000401");
  ExpectOnlyWhole(state.Encode(),
                  [](std::string_view row) { return ShardState::Decode(row).has_value(); });
  EXPECT_EQ(ShardState::Decode(state.Encode() + "x").error().id(), "shard.corrupt");
  std::string first_version = state.Encode();
  first_version.front() = 1;
  first_version.pop_back();
  EXPECT_TRUE(ShardState::Decode(first_version)->has_xattrs);
}

}  // namespace
}  // namespace sluice::db
