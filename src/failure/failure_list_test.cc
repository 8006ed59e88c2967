#include "failure/failure_list.h"

#include "db/test_database.h"
#include "timer/owned.h"

namespace sluice::failure {
namespace {

using Due = std::optional<uint64_t>;

class FailureListTest : public db::DatabaseTest {
 protected:
  FailureListTest() { options_.durability = db::Durability::kNone; }
  void SetUp() override {
    db::DatabaseTest::SetUp();
    list_ = std::make_unique<FailureList>(*database_, "o");
    ASSERT_TRUE(list_->Load().ok());
  }
  Result<uint64_t> Commit(WriteSet& write_set) {
    db::Commit commit;
    write_set.MoveTo(&commit);
    RETURN_IF_ERROR(database_->Apply(std::move(commit)).status);
    return list_->Committed(write_set.change());
  }
  uint64_t Add(const std::string& event, Due due_ms, const std::string& payload = "data") {
    WriteSet write_set(*database_, "o");
    Failure failure;
    failure.id = database_->NewCas();
    failure.key = "key of " + event;
    failure.event = event;
    EXPECT_TRUE(write_set.Add(failure, payload, due_ms).ok());
    EXPECT_TRUE(Commit(write_set));
    return failure.id;
  }
  // "event@due" of all, in order; "+" for dead ones.
  std::string All() {
    std::string all;
    const Status visited = list_->Visit(0, [&](const FailureList::Item& item) {
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
};

TEST_F(FailureListTest, KeepsListsAndDrops) {
  const uint64_t a = Add("a", std::nullopt);
  const uint64_t b = Add("b", 500, "more data");
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

TEST_F(FailureListTest, AllAtOnceInSeveralCommits) {
  for (int i = 0; i < 1200; ++i) Add(std::to_string(i), std::nullopt);
  EXPECT_EQ(*list_->RetryAll(5), 1200u);
  EXPECT_EQ(*list_->CountWaiting(), 1200u);
  EXPECT_EQ(*list_->DropAll(), 1200u);
  EXPECT_EQ(list_->kept(), 0u);
  EXPECT_EQ(All(), "");
  EXPECT_TRUE(Retries().empty());
}

TEST_F(FailureListTest, AnAttemptTakesItsRetryOnce) {
  Add("a", 500);
  const timer::Moment moment = Retries()[0].moment;
  WriteSet first(*database_, "o");
  WriteSet second(*database_, "o");
  auto taken = *first.Take(moment);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->payload, "data");
  ASSERT_TRUE(*second.Take(moment));
  EXPECT_TRUE(first.Remove(taken->failure).ok());
  EXPECT_TRUE(Commit(first));
  taken->failure.attempts = 2;
  EXPECT_TRUE(second.Update(taken->failure, 900).ok());
  const Result<uint64_t> late = Commit(second);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), Code::kConflict);
  WriteSet third(*database_, "o");
  EXPECT_FALSE(*third.Take(moment));
  EXPECT_EQ(All(), "");
  EXPECT_EQ(list_->kept(), 0u);
}

TEST_F(FailureListTest, AFailedAttemptIsNotedAndMayBeTheLast) {
  const uint64_t id = Add("a", 500);
  for (const Due next : {Due(900), Due()}) {
    WriteSet write_set(*database_, "o");
    auto taken = *write_set.Take(Retries()[0].moment);
    ASSERT_TRUE(taken);
    ++taken->failure.attempts;
    taken->failure.problem.message = "again";
    EXPECT_TRUE(write_set.Update(taken->failure, next).ok());
    EXPECT_EQ(write_set.earliest_ms(), next);
    EXPECT_TRUE(Commit(write_set));
    EXPECT_EQ(list_->Find(id)->due_ms, next);
  }
  EXPECT_EQ(list_->Find(id)->failure.attempts, 3u);
  EXPECT_EQ(list_->Find(id)->failure.problem.message, "again");
  EXPECT_EQ(list_->kept(), 1u);
}

TEST_F(FailureListTest, AnEditChangesTheDataAndWhatDependsOnIt) {
  const uint64_t id = Add("a", 500);
  WriteSet attempt(*database_, "o");
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
  const Result<uint64_t> late = Commit(attempt);
  ASSERT_FALSE(late) << "it ran with the data from before";
  EXPECT_EQ(late.error().code(), Code::kConflict);
}

TEST_F(FailureListTest, TheOldestGoWhenThereAreTooManyDeadOnesFirst) {
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

TEST_F(FailureListTest, ManyBytesAreTooManyToo) {
  list_->SetBound(100, 10'000);
  const std::string large(1500, 'x');
  for (const char* event : {"a", "b", "c", "d", "e", "f"}) Add(event, std::nullopt, large);
  EXPECT_EQ(All(), "a+ b+ c+ d+ e+ f+ ");
  Add("g", std::nullopt, large);
  EXPECT_EQ(All(), "b+ c+ d+ e+ f+ g+ ");
}

TEST_F(FailureListTest, IsTheSameAfterARestart) {
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

TEST_F(FailureListTest, AnOwnerIsDroppedWhole) {
  Add("a", 500);
  WriteSet other(*database_, "o2");
  EXPECT_TRUE(other.Add({.id = 1, .key = "k", .event = "x"}, "", 500).ok());
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

}  // namespace
}  // namespace sluice::failure
