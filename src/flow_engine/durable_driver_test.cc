#include "flow_engine/durable_driver.h"

#include <gmock/gmock.h>

#include "flow_engine/fake_run.h"

namespace sluice::flow_engine {
namespace {

using State = DurableDriver::State;
using testing::ElementsAre;
using testing::Pair;

std::string TaskOf(std::string_view name, std::string_view more) {
  return fmt::format("  - {{process: {}, description: d, {}}}\n", name, more);
}

// Three functions, one after another.
std::string Three(std::string_view a, std::string_view b, std::string_view c) {
  return "flow: {id: three, description: d, durable: true, ttl: 1h}\nfirst.task: " +
         std::string(a) + "\ntasks:\n" +
         TaskOf(a, fmt::format("execution: sequential, next: [{}]", b)) +
         TaskOf(b, fmt::format("execution: sequential, next: [{}]", c)) +
         TaskOf(c, "execution: end, output: ['result -> output.body']");
}

class DurableDriverTest : public testing::Test {
 protected:
  static constexpr uint64_t kNow = 1'700'000'000'000;

  std::unique_ptr<FakeProcess> NewProcess(const std::string& flow) {
    return std::make_unique<FakeProcess>("run", CompiledFlow(flow), &store_, ++writer_);
  }
  void Start(const std::string& flow) {
    process_ = NewProcess(flow);
    process_->Start("three", json::Value::EmptyObject(), kNow);
  }
  State state() const { return process_->driver->state(); }
  RunPhase Phase() const { return DecodeHead("run", *store_.Row(HeadKey("run")))->phase; }

  FakeStore store_;
  uint64_t writer_ = 0;
  std::unique_ptr<FakeProcess> process_;
};

TEST_F(DurableDriverTest, StepsThatOnlyAnswerAreOneCommit) {
  Start(Three("a", "b", "c"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(state(), State::kHolding);
    process_->Answer(0, kNow + 1);
  }
  EXPECT_EQ(process_->driver->due_ms(), kNow + kHoldMs);
  EXPECT_TRUE(process_->submitted.empty());
  process_->Answer(0, kNow + 2);
  ASSERT_EQ(process_->submitted.size(), 1u);
  EXPECT_TRUE(process_->submitted[0].request.only_answers);
  // Nobody is answered before it is stored.
  EXPECT_TRUE(process_->answers.empty());
  process_->StoreAll(kNow + 3);
  EXPECT_EQ(process_->answers.size(), 1u);
  EXPECT_EQ(process_->ends.size(), 1u);
  EXPECT_EQ(state(), State::kGone);
  EXPECT_EQ(Phase(), RunPhase::kCompleted);
  EXPECT_FALSE(store_.Row(LiveKey("run")));
  EXPECT_EQ(process_->steps, 3u);
}

TEST_F(DurableDriverTest, HeldStepsAreStoredWhenTheirTimeIsOver) {
  Start(Three("a", "b", "c"));
  process_->Answer(0, kNow + 1);
  process_->Tick(kNow + kHoldMs);
  EXPECT_EQ(state(), State::kTaking);
  ASSERT_EQ(process_->submitted.size(), 1u);
  process_->StoreAll(kNow + kHoldMs);
  EXPECT_TRUE(store_.Row(StepKey("run", 1)));
  // Or when the thread leaves.
  process_->Answer(0, kNow + kHoldMs);
  EXPECT_EQ(state(), State::kHolding);
  process_->Take(process_->driver->OnIdle({.wall_ms = kNow + kHoldMs}));
  EXPECT_EQ(state(), State::kTaking);
  EXPECT_EQ(process_->submitted.size(), 1u);
}

TEST_F(DurableDriverTest, AFunctionThatWritesIsStoredBeforeTheNextIsCalled) {
  Start(Three("a", "write", "c"));
  process_->Answer(0, kNow);
  process_->Answer(0, kNow);
  EXPECT_EQ(state(), State::kStoring);
  EXPECT_EQ(process_->submitted.size(), 2u);  // held steps, then the writes
  EXPECT_TRUE(process_->calls.empty());
  EXPECT_EQ(process_->driver->due_ms(), std::nullopt);
  process_->StoreAll(kNow);
  EXPECT_EQ(state(), State::kTaking);
  ASSERT_EQ(process_->calls.size(), 1u);
  EXPECT_EQ(process_->calls[0].route, "c");
  EXPECT_THAT(store_.effects, ElementsAre(Pair("write{}", 1)));
}

TEST_F(DurableDriverTest, ResultsMayComeInAnyOrder) {
  Start(Three("a", "write", "c"));
  process_->Answer(0, kNow);
  process_->Answer(0, kNow);
  for (auto& commit : process_->submitted) {
    ASSERT_TRUE(store_.Apply(commit.request.commit));
    commit.result.emplace();
  }
  process_->Deliver(1, kNow);
  EXPECT_EQ(state(), State::kStoring);
  EXPECT_TRUE(process_->calls.empty());
  process_->Deliver(0, kNow);
  EXPECT_EQ(state(), State::kTaking);
  EXPECT_EQ(process_->calls.size(), 1u);
}

TEST_F(DurableDriverTest, AConflictCallsTheFunctionAgain) {
  Start(Three("write", "b", "c"));
  process_->Answer(0, kNow);
  process_->submitted[0].result.emplace();  // what was held
  ASSERT_TRUE(store_.Apply(process_->submitted[0].request.commit));
  process_->submitted[1].result =
      StoreResult{StoreResult::Kind::kRefused, Error(Code::kConflict, "document.changed", "x")};
  process_->Deliver(0, kNow);
  process_->Deliver(0, kNow);
  EXPECT_EQ(state(), State::kTaking);
  ASSERT_EQ(process_->calls.size(), 1u);
  process_->Answer(0, kNow);
  process_->StoreAll(kNow);
  EXPECT_THAT(store_.effects, ElementsAre(Pair("write{}", 1)));
  EXPECT_EQ(process_->times_called["write"], 2);
}

TEST_F(DurableDriverTest, WritesThatAreRejectedFailTheTask) {
  Start(Three("write", "b", "c"));
  process_->Answer(0, kNow);
  process_->submitted[0].result.emplace();
  ASSERT_TRUE(store_.Apply(process_->submitted[0].request.commit));
  process_->submitted[1].result =
      StoreResult{StoreResult::Kind::kRefused, Error(Code::kInvalidArgument, "x.too_large", "big")};
  process_->Deliver(0, kNow);
  process_->Deliver(0, kNow);
  process_->StoreAll(kNow);
  ASSERT_EQ(process_->ends.size(), 1u);
  EXPECT_EQ(process_->ends[0].status, 400);
  EXPECT_EQ(process_->ends[0].message, "big");
  EXPECT_EQ(Phase(), RunPhase::kFailed);
  EXPECT_TRUE(store_.effects.empty());
}

TEST_F(DurableDriverTest, ACommitThatFailsIsMadeAgainWithAllBehindIt) {
  Start(Three("a", "b", "c"));
  process_->Take(process_->driver->OnIdle({.wall_ms = kNow}));
  process_->Answer(0, kNow);
  process_->Take(process_->driver->OnIdle({.wall_ms = kNow}));
  ASSERT_EQ(process_->submitted.size(), 2u);
  process_->submitted[0].result =
      StoreResult{StoreResult::Kind::kRefused, Error(Code::kIo, "storage.write", "no disk")};
  // The second expects the first.
  EXPECT_FALSE(store_.Apply(process_->submitted[1].request.commit));
  process_->submitted[1].result = store_.Refusal("run", process_->submitted[1].request);
  process_->Deliver(0, kNow);
  EXPECT_EQ(state(), State::kRepairing);
  EXPECT_EQ(process_->driver->due_ms(), std::nullopt);
  process_->Deliver(0, kNow);
  EXPECT_EQ(process_->driver->due_ms(), kNow + kRepairPauseMs);
  process_->Answer(0, kNow + 1);  // waits
  EXPECT_TRUE(process_->submitted.empty());
  process_->Tick(kNow + kRepairPauseMs);
  EXPECT_EQ(state(), State::kStoring);
  process_->StoreAll(kNow + kRepairPauseMs);
  EXPECT_FALSE(process_->lost);
  process_->Answer(0, kNow + kRepairPauseMs);
  process_->StoreAll(kNow + kRepairPauseMs);
  EXPECT_EQ(Phase(), RunPhase::kCompleted);
  for (const uint32_t step : {1, 2, 3}) EXPECT_TRUE(store_.Row(StepKey("run", step))) << step;
  EXPECT_EQ(process_->answers.size(), 1u);
}

TEST_F(DurableDriverTest, ARunThatAnotherOwnerHasLeavesQuietly) {
  Start(Three("write", "b", "c"));
  process_->Take(process_->driver->OnIdle({.wall_ms = kNow}));
  process_->StoreAll(kNow);
  auto other = NewProcess(Three("write", "b", "c"));
  ASSERT_TRUE(other->Resume(kNow));
  other->Answer(0, kNow);
  other->StoreAll(kNow);
  process_->Answer(0, kNow);
  process_->StoreAll(kNow);
  EXPECT_TRUE(process_->lost);
  EXPECT_EQ(state(), State::kGone);
  // Nothing is tried again.
  EXPECT_EQ(process_->driver->due_ms(), std::nullopt);
  process_->Tick(kNow + 10 * kRepairPauseMs);
  EXPECT_TRUE(process_->submitted.empty());
  EXPECT_TRUE(process_->calls.empty());
  for (int i = 0; i < 2; ++i) other->Answer(0, kNow);
  other->StoreAll(kNow);
  EXPECT_EQ(Phase(), RunPhase::kCompleted);
  EXPECT_THAT(store_.effects, ElementsAre(Pair("write{}", 1)));
}

TEST_F(DurableDriverTest, AStepThatWasRunAheadOfALostOneHasNoEffect) {
  Start(Three("a", "write", "c"));
  process_->Take(process_->driver->OnIdle({.wall_ms = kNow}));
  process_->StoreAll(kNow);
  auto other = NewProcess(Three("a", "write", "c"));
  ASSERT_TRUE(other->Resume(kNow));
  // This process runs ahead of its commits, and the other one is faster.
  process_->Answer(0, kNow);
  process_->Take(process_->driver->OnIdle({.wall_ms = kNow}));
  process_->Answer(0, kNow);
  ASSERT_EQ(process_->submitted.size(), 2u);
  for (int i = 0; i < 3; ++i) {
    other->Answer(0, kNow);
    other->StoreAll(kNow);
  }
  process_->StoreAll(kNow);
  EXPECT_TRUE(process_->lost);
  EXPECT_TRUE(process_->answers.empty());
  EXPECT_EQ(other->answers.size(), 1u);
  EXPECT_THAT(store_.effects, ElementsAre(Pair("write{}", 1)));
}

TEST_F(DurableDriverTest, CancelEndsItWhenItIsStored) {
  Start(Three("a", "b", "c"));
  process_->Take(process_->driver->OnEvent({.event = flow::Cancel{}}, {.wall_ms = kNow}));
  EXPECT_TRUE(process_->ends.empty());
  process_->StoreAll(kNow);
  ASSERT_EQ(process_->ends.size(), 1u);
  EXPECT_EQ(Phase(), RunPhase::kCancelled);
  process_->Answer(0, kNow);  // nobody waits for it
  EXPECT_TRUE(process_->submitted.empty());
}

TEST_F(DurableDriverTest, ParksOnlyWhenAllIsStored) {
  std::string flow = Three("a", "b", "c");
  flow.replace(flow.find("process: b,"), 11, "process: b, delay: 600000,");
  Start(flow);
  process_->Answer(0, kNow);
  EXPECT_FALSE(process_->driver->CanPark(kNow + 30'000));
  process_->StoreAll(kNow);
  EXPECT_TRUE(process_->driver->CanPark(kNow + 30'000));
  EXPECT_FALSE(process_->driver->CanPark(kNow + 600'000));
  process_->driver->Park();
  process_->Tick(kNow + 600'000);
  EXPECT_TRUE(process_->calls.empty());
  auto later = NewProcess(flow);
  ASSERT_TRUE(later->Resume(kNow + 600'000));
  ASSERT_EQ(later->calls.size(), 1u);
  EXPECT_EQ(later->calls[0].route, "b");
}

// Files are written when their step is stored, and named in a row until then.
TEST_F(DurableDriverTest, FilesAreWrittenAfterTheCommit) {
  std::string flow = Three("a", "b", "c");
  flow.replace(flow.find("process: b,"), 11, "process: b, output: ['result -> file(/f/x)'],");
  Start(flow);
  process_->Answer(0, kNow);
  process_->Answer(0, kNow);
  EXPECT_EQ(state(), State::kStoring);
  EXPECT_TRUE(store_.files.empty());
  ASSERT_EQ(process_->submitted.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(store_.Apply(process_->submitted[0].request.commit));
    process_->submitted[0].result.emplace();
    EXPECT_TRUE(store_.files.empty());
    process_->Deliver(0, kNow);
  }
  EXPECT_THAT(store_.files, ElementsAre(Pair("/f/x", 1)));
  EXPECT_TRUE(store_.Row(FilesKey("run")));
  process_->StoreAll(kNow);
  EXPECT_FALSE(store_.Row(FilesKey("run")));
}

}  // namespace
}  // namespace sluice::flow_engine
