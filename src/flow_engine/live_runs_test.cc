#include "flow_engine/live_runs.h"

#include <atomic>
#include <future>
#include <latch>
#include <utility>

#include "db/test_database.h"
#include "flow_engine/answers.h"
#include "flow_engine/file_writer.h"
#include "flow_engine/run_timers.h"

namespace sluice::flow_engine {
namespace {

class LiveRunsTest : public db::DatabaseTest {
 protected:
  void SetUp() override {
    DatabaseTest::SetUp();
    files_ = std::make_unique<FileWriter>(*database_);
    runs_.Open(0);
  }
  LiveRunPtr NewRun(const std::string& id) {
    return std::make_shared<LiveRun>(app_, id, nullptr, answers_, *files_);
  }

  RunClock time_{clock_};
  std::atomic<uint64_t> steps_{0};
  Answers answers_{time_, 0, nullptr, steps_};
  std::unique_ptr<FileWriter> files_;
  const std::shared_ptr<const App> app_ = std::make_shared<App>();
  LiveRuns runs_;
};

TEST_F(LiveRunsTest, OneOfEachId) {
  const LiveRunPtr run = NewRun("a");
  EXPECT_TRUE(runs_.Add(run));
  EXPECT_FALSE(runs_.Add(NewRun("a")));
  EXPECT_EQ(runs_.Find("a"), run);
  EXPECT_EQ(runs_.Find("b"), nullptr);
  runs_.Remove(*NewRun("a"));  // another one
  EXPECT_EQ(runs_.size(), 1u);
  runs_.Remove(*run);
  EXPECT_EQ(runs_.size(), 0u);
}

TEST_F(LiveRunsTest, OnlyOpenShardsHaveRuns) {
  const auto in = [&](db::ShardId shard, const std::string& id) {
    const LiveRunPtr run = NewRun(id);
    run->shard = shard;
    return run;
  };
  EXPECT_FALSE(runs_.Add(in(1, "a")));
  runs_.Open(1);
  EXPECT_TRUE(runs_.Add(in(1, "a")));
  EXPECT_TRUE(runs_.Add(in(0, "b")));
  const std::vector<LiveRunPtr> there = runs_.Close(1);
  ASSERT_EQ(there.size(), 1u);
  EXPECT_EQ(there[0]->id, "a");
  EXPECT_EQ(runs_.Find("a"), there[0]) << "it stays until it is removed";
  EXPECT_FALSE(runs_.Add(in(1, "c")));
  EXPECT_EQ(runs_.shards(), std::set<db::ShardId>{0});
}

// A run that is handed over while its shard is closed is with its next keeper afterwards.
TEST_F(LiveRunsTest, ClosingWaitsForAHandOver) {
  const LiveRunPtr run = NewRun("a");
  runs_.Add(run);
  std::latch handing(1);
  std::atomic<bool> handed_over = false;
  Thread closer;
  runs_.HandOver(
      *run, [] { return true; },
      [&] {
        closer = Thread({"closer"}, [&] {
          handing.count_down();
          EXPECT_TRUE(runs_.Close(0).empty());
          EXPECT_TRUE(handed_over);
        });
        handing.wait();
        handed_over = true;
      });
}

TEST_F(LiveRunsTest, FindWaitsForAHandOver) {
  const LiveRunPtr run = NewRun("a");
  runs_.Add(run);
  runs_.HandOver(
      *run, [] { return false; }, [] { FAIL(); });
  EXPECT_EQ(runs_.Find("a"), run);
  std::future<std::pair<LiveRunPtr, bool>> found;  // and whether the hand-over was done by then
  std::latch looks(1);
  std::atomic<bool> kept = false;
  runs_.HandOver(
      *run, [] { return true; },
      [&] {
        found = std::async(std::launch::async, [&] {
          looks.count_down();
          const LiveRunPtr result = runs_.Find("a");
          return std::pair(result, kept.load());
        });
        looks.wait();
        kept = true;
      });
  EXPECT_EQ(found.get(), std::pair(LiveRunPtr(), true));
}

TEST_F(LiveRunsTest, WaitsUntilARunIsGone) {
  const LiveRunPtr run = NewRun("a");
  runs_.Add(run);
  std::latch wait(2);
  std::atomic<bool> removed = false;
  auto of_run = std::async(std::launch::async, [&] {
    wait.count_down();
    runs_.WaitUntilGone(*run);
    return removed.load();
  });
  auto of_id = std::async(std::launch::async, [&] {
    wait.count_down();
    runs_.WaitUntilGone("a");
    return removed.load();
  });
  wait.wait();
  removed = true;
  runs_.Remove(*run);
  EXPECT_TRUE(of_run.get());
  EXPECT_TRUE(of_id.get());
  runs_.WaitUntilGone("a");
  // One of the same id that came after it does not matter.
  runs_.Add(NewRun("a"));
  runs_.WaitUntilGone(*run);
}

// What is due is done on a thread of the pool, what is dropped is not.
TEST_F(LiveRunsTest, TimersGoOff) {
  std::promise<LiveRunPtr> due;
  RunThreads threads(4);
  RunTimers timers(time_, threads, [&](const LiveRunPtr& run) { due.set_value(run); });
  const LiveRunPtr run = NewRun("a");
  const LiveRunPtr late = NewRun("b");
  std::promise<void> later;
  std::atomic<bool> dropped_ran = false;
  const auto dropped = timers.NewLater(time_.NowMs() + 10);
  timers.RunLater(dropped, [&] { dropped_ran = true; });
  timers.RunLater(timers.NewLater(time_.NowMs() + 20), [&] { later.set_value(); });
  timers.Drop(dropped);
  {
    const MutexLock lock(run->mutex);
    timers.Set(*run, time_.NowMs() + 3'600'000);
    timers.Set(*run, time_.NowMs() + 15);
  }
  {
    const MutexLock lock(late->mutex);
    timers.Set(*late, time_.NowMs() + 3'600'000);
  }
  clock_.AdvanceMs(20);
  EXPECT_EQ(due.get_future().get(), run);
  later.get_future().get();
  EXPECT_FALSE(dropped_ran);
  const std::vector<LiveRunPtr> left = timers.Stop();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0], late);
  threads.Stop();
}

}  // namespace
}  // namespace sluice::flow_engine
