#include "timer/scheduler.h"

#include <chrono>
#include <semaphore>

#include <gmock/gmock.h>

#include "base/mutex.h"
#include "db/test_database.h"
#include "timer/write_set.h"

namespace sluice::timer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// The timers are spread over the shards.
class SchedulerTest : public db::DatabaseTest, public ::testing::WithParamInterface<uint16_t> {
 protected:
  SchedulerTest() { options_.shards = GetParam(); }
  void SetUp() override {
    DatabaseTest::SetUp();
    scheduler_ = std::make_unique<Scheduler>(*database_, clock_);
    for (db::ShardId shard = 0; shard < GetParam(); ++shard) {
      scheduler_->Add(
          "~", shard,
          [this](const Timer&) {
            last_.release();
            return true;
          },
          [](const Status& status) { FAIL() << status.ToString(); });
    }
    StoreLast();  // the scheduler serves an owner that it does not know before all others
  }
  void TearDown() override { scheduler_.reset(); }

  uint64_t InMs(uint64_t ms) const { return clock_.WallMs() + ms; }
  void Store(const std::string& reference, uint64_t due_ms, const std::string& owner = "f") {
    const auto shard = static_cast<db::ShardId>(stored_++ % GetParam());
    WriteSet write_set(*database_, shard, owner);
    ASSERT_TRUE(write_set.Create({"cb", reference, {due_ms, database_->NewCas()}, ""}).ok());
    db::Commit commit;
    commit.shard = shard;
    write_set.MoveTo(&commit);
    ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
    scheduler_->Created(owner, shard, due_ms);
  }
  // Returns the numbers that Remove takes, by shard.
  std::vector<uint64_t> Add(const std::string& owner = "f") {
    std::vector<uint64_t> added;
    for (db::ShardId shard = 0; shard < GetParam(); ++shard) added.push_back(AddIn(shard, owner));
    return added;
  }
  uint64_t AddIn(db::ShardId shard, const std::string& owner = "f") {
    return scheduler_->Add(
        owner, shard,
        [this, shard](const Timer& timer) {
          EXPECT_EQ(timer.moment.shard, shard);
          return Receive(timer);
        },
        [](const Status& status) { FAIL() << status.ToString(); });
  }
  void Remove(const std::vector<uint64_t>& added) {
    for (db::ShardId shard = 0; shard < GetParam(); ++shard) {
      scheduler_->Remove("f", shard, added[shard]);
    }
  }
  bool Receive(const Timer& timer) {
    {
      const MutexLock lock(mutex_);
      if (got_.size() == room_) return false;
      EXPECT_LE(timer.moment.due_ms, clock_.WallMs()) << "early";
      got_.push_back(timer);
    }
    changed_.NotifyAll();
    return true;
  }
  // Waits for so many timers and returns the references of all that came since the last call.
  std::vector<std::string> Got(size_t count) {
    const MutexLock lock(mutex_);
    EXPECT_TRUE(
        changed_.WaitFor(lock, kLongest, [&]() REQUIRES(mutex_) { return got_.size() >= count; }));
    std::vector<std::string> references;
    for (const Timer& timer : got_) references.push_back(timer.reference);
    taken_ = std::exchange(got_, {});
    return references;
  }
  // The same once the scheduler has delivered every timer that is due. It serves the owner first
  // that waits longest, and of owners that wait equally long the one whose name sorts first: so a
  // timer of "~" that is due now comes after all others.
  std::vector<std::string> GotAll() {
    StoreLast();
    return Got(0);
  }
  void StoreLast() {
    Store(std::to_string(++lasts_), InMs(0), "~");
    EXPECT_TRUE(last_.try_acquire_for(kLongest));
  }
  // Commits the timers that the last Got returned.
  void Finish(const std::string& owner = "f") {
    std::vector<Moment> moments;
    for (db::ShardId shard = 0; shard < GetParam(); ++shard) {
      WriteSet write_set(*database_, shard, owner);
      for (const Timer& timer : taken_) {
        if (timer.moment.shard != shard) continue;
        ASSERT_TRUE(*write_set.Take(timer.moment));
        moments.push_back(timer.moment);
      }
      db::Commit commit;
      commit.shard = shard;
      write_set.MoveTo(&commit);
      ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
    }
    scheduler_->Done(owner, moments);
  }
  void Advance(uint64_t ms) {
    clock_.AdvanceMs(ms);
    scheduler_->Wake();
  }

  static constexpr std::chrono::seconds kLongest{60};  // what takes longer has failed

  std::unique_ptr<Scheduler> scheduler_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<Timer> got_ GUARDED_BY(mutex_);
  size_t room_ GUARDED_BY(mutex_) = SIZE_MAX;
  std::vector<Timer> taken_;
  int lasts_ = 0;  // timers of "~"
  int stored_ = 0;
  std::counting_semaphore<> last_{0};
};

TEST_P(SchedulerTest, HandsOutWhatIsDueAndNothingEarly) {
  Store("late", InMs(100));
  Store("soon", InMs(50));
  Add();
  EXPECT_THAT(GotAll(), IsEmpty());
  Advance(49);
  EXPECT_THAT(GotAll(), IsEmpty());
  Advance(1);
  EXPECT_THAT(Got(1), ElementsAre("soon"));
  Advance(100);
  EXPECT_THAT(Got(1), ElementsAre("late"));
  Advance(100'000);
  EXPECT_THAT(GotAll(), IsEmpty()) << "not done, and not handed out twice";
}

TEST_P(SchedulerTest, WakesForAnEarlierOne) {
  Store("late", InMs(1000));
  Add();
  EXPECT_THAT(GotAll(), IsEmpty());
  Store("now", InMs(0));
  EXPECT_THAT(Got(1), ElementsAre("now"));
  Finish();
  Store("past", InMs(0) - 5000);
  EXPECT_THAT(Got(1), ElementsAre("past"));
  Finish();
  Advance(1000);
  EXPECT_THAT(Got(1), ElementsAre("late"));
}

TEST_P(SchedulerTest, ARemovedOwnerGetsNothingUntilItIsBack) {
  Store("a", InMs(10));
  Remove(Add());
  Advance(10);
  EXPECT_THAT(GotAll(), IsEmpty());
  Store("b", InMs(0) - 1);
  EXPECT_THAT(GotAll(), IsEmpty());
  Add();
  EXPECT_THAT(Got(2), UnorderedElementsAre("b", "a"));
}

TEST_P(SchedulerTest, ALateRemovalDoesNotTakeTheNextOneAlong) {
  const std::vector<uint64_t> first = Add();
  const std::vector<uint64_t> second = Add();
  Remove(first);
  Store("a", InMs(0));
  EXPECT_THAT(Got(1), ElementsAre("a"));
  Remove(second);
  Store("b", InMs(0));
  EXPECT_THAT(GotAll(), IsEmpty());
}

TEST_P(SchedulerTest, OnlyTimersOfAddedShardsAreHandedOut) {
  for (db::ShardId shard = 0; shard < GetParam(); ++shard) {
    Store("here" + std::to_string(shard), InMs(0));
  }
  std::vector<uint64_t> added;
  for (db::ShardId shard = 0; shard < GetParam(); ++shard) {
    added.push_back(AddIn(shard));
    EXPECT_EQ(Got(1).size(), 1u) << "of shard " << shard;
    Finish();
  }
  scheduler_->Remove("f", 0, added[0]);
  for (db::ShardId shard = 0; shard < GetParam(); ++shard) {
    Store("more" + std::to_string(shard), InMs(0));
  }
  EXPECT_EQ(GotAll().size(), GetParam() - 1u);
  Finish();
  AddIn(0);
  EXPECT_EQ(Got(1).size(), 1u);
}

TEST_P(SchedulerTest, WaitsForRoom) {
  for (int i = 0; i < 5; ++i) Store(std::to_string(i), InMs(0) + i);
  {
    const MutexLock lock(mutex_);
    room_ = 2;
  }
  Add();
  Advance(10);
  std::vector<std::string> all;
  for (const size_t count : {2u, 2u, 1u}) {
    const std::vector<std::string> got = Got(count);
    EXPECT_EQ(got.size(), count);
    all.insert(all.end(), got.begin(), got.end());
    Finish();
  }
  if (GetParam() == 1) {
    EXPECT_THAT(all, ElementsAre("0", "1", "2", "3", "4"));
  } else {  // shards have their turns, and share the room
    EXPECT_THAT(all, UnorderedElementsAre("0", "1", "2", "3", "4"));
  }
}

TEST_P(SchedulerTest, ManyOfManyOwnersAllCome) {
  for (int i = 0; i < 1000; ++i) Store(std::to_string(i), InMs(0), i % 2 == 0 ? "f" : "g");
  Add("f");
  Add("g");
  std::vector<std::string> all = Got(1000);
  EXPECT_EQ(all.size(), 1000u);
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::unique(all).size(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Shards, SchedulerTest, ::testing::Values(1, 4));

}  // namespace
}  // namespace sluice::timer
