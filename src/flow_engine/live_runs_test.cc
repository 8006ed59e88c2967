#include "flow_engine/live_runs.h"

#include <future>

#include "base/clock.h"
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
  }
  LiveRunPtr NewRun(const std::string& id) {
    return std::make_shared<LiveRun>(app_, id, nullptr, answers_, *files_);
  }

  const SystemClock system_clock_;
  RunClock time_{system_clock_};
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

TEST_F(LiveRunsTest, FindWaitsForAHandOver) {
  const LiveRunPtr run = NewRun("a");
  runs_.Add(run);
  runs_.HandOver(
      *run, [] { return false; }, [] { FAIL(); });
  EXPECT_EQ(runs_.Find("a"), run);
  std::future<LiveRunPtr> found;
  bool kept = false;
  runs_.HandOver(
      *run, [] { return true; },
      [&] {
        found = std::async(std::launch::async, [&] { return runs_.Find("a"); });
        EXPECT_EQ(found.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
        kept = true;
      });
  EXPECT_EQ(found.get(), nullptr);
  EXPECT_TRUE(kept);
}

TEST_F(LiveRunsTest, WaitsUntilARunIsGone) {
  const LiveRunPtr run = NewRun("a");
  runs_.Add(run);
  auto of_run = std::async(std::launch::async, [&] { runs_.WaitUntilGone(*run); });
  auto of_id = std::async(std::launch::async, [&] { runs_.WaitUntilGone("a"); });
  EXPECT_EQ(of_run.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  runs_.Remove(*run);
  of_run.get();
  of_id.get();
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
    const std::lock_guard lock(run->mutex);
    timers.Set(*run, time_.NowMs() + 3'600'000);
    timers.Set(*run, time_.NowMs() + 15);
  }
  {
    const std::lock_guard lock(late->mutex);
    timers.Set(*late, time_.NowMs() + 3'600'000);
  }
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
