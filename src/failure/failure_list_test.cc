#include "failure/failure_list.h"

#include "db/test_database.h"
#include "timer/owned.h"

namespace sluice::failure {
namespace {

using Due = std::optional<uint64_t>;

// The failures are spread over the shards.
class FailureListTest : public db::DatabaseTest, public ::testing::WithParamInterface<uint16_t> {
 protected:
  FailureListTest() {
    options_.durability = db::Durability::kNone;
    options_.shards = GetParam();
  }
  void SetUp() override {
    db::DatabaseTest::SetUp();
    list_ = std::make_unique<FailureList>(*database_, "o");
    ASSERT_TRUE(list_->Load().ok());
  }
  Result<uint64_t> Commit(db::ShardId shard, WriteSet& write_set) {
    db::Commit commit;
    commit.shard = shard;
    write_set.MoveTo(&commit);
    RETURN_IF_ERROR(database_->Apply(std::move(commit)).status);
    return list_->Committed(write_set.change());
  }
  FailureId Add(const std::string& event, Due due_ms, const std::string& payload = "data") {
    const auto shard = static_cast<db::ShardId>((GetParam() - 1 + added_++) % GetParam());
    WriteSet write_set(*database_, shard, "o");
    Failure failure;
    failure.id = write_set.NewId();
    failure.key = "key of " + event;
    failure.event = event;
    EXPECT_TRUE(write_set.Add(failure, payload, due_ms).ok());
    EXPECT_TRUE(Commit(shard, write_set));
    return failure.id;
  }
  // "event@due" of all, in order; "+" for dead ones.
  std::string All() {
    std::string all;
    const Status visited = list_->Visit({}, [&](const FailureList::Item& item) {
      all += item.failure.event + (item.due_ms ? fmt::format("@{} ", *item.due_ms) : "+ ");
      return true;
    });
    EXPECT_TRUE(visited.ok());
    return all;
  }
  // The retries as a scheduler sees them.
  std::vector<timer::Timer> Retries() {
    std::vector<timer::Timer> retries;
    EXPECT_TRUE(timer::Visit(*database_, "retry:o", {}, [&](timer::Timer timer) {
                  retries.push_back(std::move(timer));
                  return true;
                }).ok());
    return retries;
  }

  std::unique_ptr<FailureList> list_;
  int added_ = 0;  // the first one is in the last shard
};

TEST_P(FailureListTest, KeepsListsAndDrops) {
  const FailureId a = Add("a", std::nullopt);
  const FailureId b = Add("b", 500, "more data");
  EXPECT_EQ(All(), "a+ b@500 ");
  EXPECT_EQ(list_->kept(), 2u);
  EXPECT_EQ(*list_->CountWaiting(), 1u);
  EXPECT_EQ(*list_->Payload(b), "more data");
  EXPECT_EQ(list_->Find(b)->failure.payload_bytes, 9u);
  ASSERT_EQ(Retries().size(), 1u);
  EXPECT_EQ(Retries()[0].context, "key of b") << "who hands it out needs no more than that";

  EXPECT_TRUE(list_->Drop(b).ok());
  EXPECT_EQ(list_->Drop(b).id(), "failure.not_found");
  EXPECT_EQ(list_->Retry(b, 1).id(), "failure.not_found");
  EXPECT_EQ(All(), "a+ ");
  EXPECT_TRUE(Retries().empty());
  EXPECT_TRUE(list_->Retry(a, 7).ok());
  EXPECT_EQ(All(), "a@7 ");
  EXPECT_TRUE(list_->Retry(a, 9).ok());
  EXPECT_EQ(Retries().size(), 1u) << "replaced";
}

TEST_P(FailureListTest, AllAtOnceInSeveralCommits) {
  for (int i = 0; i < 1200; ++i) Add(std::to_string(i), std::nullopt);
  EXPECT_EQ(*list_->RetryAll(5), 1200u);
  EXPECT_EQ(*list_->CountWaiting(), 1200u);
  EXPECT_EQ(*list_->DropAll(), 1200u);
  EXPECT_EQ(list_->kept(), 0u);
  EXPECT_EQ(All(), "");
  EXPECT_TRUE(Retries().empty());
}

TEST_P(FailureListTest, AnAttemptTakesItsRetryOnce) {
  Add("a", 500);
  const timer::Moment moment = Retries()[0].moment;
  WriteSet first(*database_, moment.shard, "o");
  WriteSet second(*database_, moment.shard, "o");
  auto taken = *first.Take(moment);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->payload, "data");
  ASSERT_TRUE(*second.Take(moment));
  EXPECT_TRUE(first.Remove(taken->failure).ok());
  EXPECT_TRUE(Commit(moment.shard, first));
  taken->failure.attempts = 2;
  EXPECT_TRUE(second.Update(taken->failure, 900).ok());
  const Result<uint64_t> late = Commit(moment.shard, second);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), Code::kConflict);
  WriteSet third(*database_, moment.shard, "o");
  EXPECT_FALSE(*third.Take(moment));
  EXPECT_EQ(All(), "");
  EXPECT_EQ(list_->kept(), 0u);
}

TEST_P(FailureListTest, AFailedAttemptIsNotedAndMayBeTheLast) {
  const FailureId id = Add("a", 500);
  for (const Due next : {Due(900), Due()}) {
    WriteSet write_set(*database_, id.shard, "o");
    auto taken = *write_set.Take(Retries()[0].moment);
    ASSERT_TRUE(taken);
    ++taken->failure.attempts;
    taken->failure.problem.message = "again";
    EXPECT_TRUE(write_set.Update(taken->failure, next).ok());
    EXPECT_EQ(write_set.earliest_ms(), next);
    EXPECT_TRUE(Commit(id.shard, write_set));
    EXPECT_EQ(list_->Find(id)->due_ms, next);
  }
  EXPECT_EQ(list_->Find(id)->failure.attempts, 3u);
  EXPECT_EQ(list_->Find(id)->failure.problem.message, "again");
  EXPECT_EQ(list_->kept(), 1u);
}

TEST_P(FailureListTest, AnEditChangesTheDataAndWhatDependsOnIt) {
  const FailureId id = Add("a", 500);
  WriteSet attempt(*database_, id.shard, "o");
  const auto taken = *attempt.Take(Retries()[0].moment);
  const auto edit = [](Failure& failure, std::string& payload) {
    EXPECT_EQ(payload, "data");
    payload = "other data";
    failure.event = "b";
    return OkStatus();
  };
  EXPECT_TRUE(list_->Change(id, edit).ok());
  EXPECT_EQ(*list_->Payload(id), "other data");
  EXPECT_EQ(list_->Find(id)->failure.edits, 1u);
  EXPECT_EQ(All(), "b@500 ") << "its retry stays";
  EXPECT_TRUE(attempt.Remove(taken->failure).ok());
  const Result<uint64_t> late = Commit(id.shard, attempt);
  ASSERT_FALSE(late) << "it ran with the data from before";
  EXPECT_EQ(late.error().code(), Code::kConflict);
}

TEST_P(FailureListTest, TheOldestGoWhenThereAreTooManyDeadOnesFirst) {
  list_->SetBound(3);
  Add("a", 500);
  for (const char* event : {"b", "c", "d", "e"}) Add(event, std::nullopt);
  EXPECT_EQ(All(), "a@500 d+ e+ ");
  Add("f", 600);
  Add("g", 700);
  EXPECT_EQ(All(), "a@500 f@600 g@700 ");
  Add("h", 800);
  EXPECT_EQ(All(), "f@600 g@700 h@800 ") << "also one that waits, if there is no other";
  EXPECT_EQ(list_->kept(), 3u);
  EXPECT_EQ(Retries().size(), 3u);
}

TEST_P(FailureListTest, ManyBytesAreTooManyToo) {
  list_->SetBound(100, 10'000);
  const std::string large(1500, 'x');
  for (const char* event : {"a", "b", "c", "d", "e", "f"}) Add(event, std::nullopt, large);
  EXPECT_EQ(All(), "a+ b+ c+ d+ e+ f+ ");
  Add("g", std::nullopt, large);
  EXPECT_EQ(All(), "b+ c+ d+ e+ f+ g+ ");
}

TEST_P(FailureListTest, IsTheSameAfterARestart) {
  Add("a", std::nullopt);
  Add("b", 500);
  list_.reset();
  Reopen();
  list_ = std::make_unique<FailureList>(*database_, "o");
  ASSERT_TRUE(list_->Load().ok());
  EXPECT_EQ(list_->kept(), 2u);
  EXPECT_EQ(All(), "a+ b@500 ");
  list_->SetBound(2);
  Add("c", std::nullopt);
  EXPECT_EQ(All(), "b@500 c+ ") << "what was there before counts";
}

TEST_P(FailureListTest, AnOwnerIsDroppedWhole) {
  Add("a", 500);
  WriteSet other(*database_, 0, "o2");
  EXPECT_TRUE(other.Add({.id = {.stamp = 1}, .key = "k", .event = "x"}, "", 500).ok());
  db::Commit commit;
  other.MoveTo(&commit);
  ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  EXPECT_EQ(*Owners(*database_), (std::vector<std::string>{"o", "o2"}));
  EXPECT_TRUE(DropOwner(*database_, "o").ok());
  EXPECT_EQ(*Owners(*database_), std::vector<std::string>{"o2"});
  EXPECT_EQ(All(), "");
  EXPECT_TRUE(Retries().empty());
  EXPECT_EQ(*timer::Owners(*database_), std::vector<std::string>{"retry:o2"});
}

TEST_P(FailureListTest, FailuresOfAllShardsAreOneList) {
  std::vector<FailureId> ids;
  for (const char* event : {"a", "b", "c", "d", "e"}) ids.push_back(Add(event, 500));
  EXPECT_EQ(All(), "a@500 b@500 c@500 d@500 e@500 ");
  std::vector<FailureId> listed;
  ASSERT_TRUE(list_
                  ->Visit(ids[2],
                          [&](const FailureList::Item& item) {
                            listed.push_back(item.failure.id);
                            return true;
                          })
                  .ok());
  EXPECT_EQ(listed, std::vector<FailureId>(ids.begin() + 2, ids.end()));
  EXPECT_TRUE(list_->Drop(ids[1]).ok());
  EXPECT_TRUE(list_->Retry(ids[3], 700).ok());
  EXPECT_EQ(All(), "a@500 c@500 d@700 e@500 ");
  const FailureId elsewhere{ids[0].stamp, static_cast<db::ShardId>(GetParam())};
  EXPECT_EQ(list_->Find(elsewhere).error().id(), "failure.not_found");
  EXPECT_EQ(list_->Drop(elsewhere).id(), "failure.not_found");
  EXPECT_EQ(*list_->RetryAll(900), 4u);
  EXPECT_EQ(All(), "a@900 c@900 d@900 e@900 ");
}

INSTANTIATE_TEST_SUITE_P(Shards, FailureListTest, ::testing::Values(1, 4));

}  // namespace
}  // namespace sluice::failure
