#include "base/watchdog.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/mutex.h"
#include "base/test_hurried_clock.h"

namespace sluice {
namespace {

using std::chrono::milliseconds;

class Work final : public Watched {
 public:
  Work(milliseconds interval, Watchdog& watchdog) : Watched(interval, watchdog) {}
  ~Work() override { Leave(); }

  void Begin() {
    at_work_ = true;
    Wake();
  }
  void End() { at_work_ = false; }
  // Until there have been so many since it was made.
  void AwaitLooks(uint64_t count) {
    const MutexLock lock(mutex_);
    looked_.Wait(lock, [&]() REQUIRES(mutex_) { return looks_ >= count; });
  }
  // Until a look has seen the work that is under way.
  void AwaitLookAtWork() {
    const MutexLock lock(mutex_);
    const uint64_t before = busy_looks_;
    looked_.Wait(lock, [&]() REQUIRES(mutex_) { return busy_looks_ > before; });
  }
  uint64_t looks() {
    const MutexLock lock(mutex_);
    return looks_;
  }
  uint64_t last_ns() {
    const MutexLock lock(mutex_);
    return last_ns_;
  }

 private:
  bool Look(uint64_t now_ns) override {
    const bool at_work = at_work_;
    {
      const MutexLock lock(mutex_);
      ++looks_;
      if (at_work) ++busy_looks_;
      last_ns_ = now_ns;
    }
    looked_.NotifyAll();
    return at_work;
  }

  std::atomic<bool> at_work_ = false;
  Mutex mutex_;
  CondVar looked_;
  uint64_t looks_ GUARDED_BY(mutex_) = 0;
  uint64_t busy_looks_ GUARDED_BY(mutex_) = 0;
  uint64_t last_ns_ GUARDED_BY(mutex_) = 0;
};

TEST(Watchdog, LooksAtMultiplesOfTheIntervalWhileThereIsWork) {
  FakeClock clock(1'000'000);
  Watchdog watchdog(clock);
  Work work(milliseconds(10), watchdog);
  work.Begin();
  for (uint64_t i = 1; i <= 10; ++i) {
    clock.AdvanceMs(10);
    work.AwaitLooks(i);
    EXPECT_EQ(work.last_ns(), (1'000'000 + i * 10) * 1'000'000);
  }
}

TEST(Watchdog, SleepsAWhileAfterTheWorkHasEnded) {
  FakeClock clock(1'000'000);
  Watchdog watchdog(clock);
  Work work(milliseconds(100), watchdog);
  Work other(milliseconds(100), watchdog);
  other.Begin();
  uint64_t others = 0;
  for (uint64_t round = 1; round <= 3; ++round) {
    work.Begin();
    work.End();
    for (int i = 0; i < 20; ++i) {
      clock.AdvanceMs(100);
      other.AwaitLooks(++others);
    }
    // One look each 100 ms, until 500 ms have passed. The object that was added last is looked at
    // last, so all looks at this one are over.
    EXPECT_EQ(work.looks(), round * 5);
  }
}

TEST(Watchdog, EachObjectHasItsOwnInterval) {
  FakeClock clock(1'000'000);
  Watchdog watchdog(clock);
  Work seldom(milliseconds(20), watchdog);
  Work often(milliseconds(2), watchdog);
  seldom.Begin();
  often.Begin();
  for (uint64_t i = 1; i <= 100; ++i) {
    clock.AdvanceMs(2);
    often.AwaitLooks(i);
  }
  EXPECT_EQ(seldom.looks(), 10u);
}

TEST(Watchdog, NothingIsLookedAtAfterItHasLeft) {
  const HurriedClock clock;
  Watchdog watchdog(clock);
  Work other(milliseconds(1), watchdog);
  other.Begin();
  for (int round = 0; round < 100; ++round) {
    auto work = std::make_unique<Work>(milliseconds(1), watchdog);
    work->Begin();
    work->AwaitLooks(1);
    work.reset();
    other.AwaitLooks(other.looks() + 1);
  }
}

// Work begins at the moment that the watchdog falls asleep: it does so at the first look that sees
// no work, since the interval is as long as the time after which it sleeps.
TEST(Watchdog, NoWorkIsMissed) {
  const HurriedClock clock;
  Watchdog watchdog(clock);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      Work work(Watchdog::kQuiet, watchdog);
      for (int round = 0; round < 2000; ++round) {
        work.Begin();
        work.AwaitLookAtWork();
        work.End();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace sluice
