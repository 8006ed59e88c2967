#include "base/pool.h"

#include <atomic>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/test_hurried_clock.h"
#include "base/wait_scope.h"

namespace sluice {
namespace {

constexpr int kMany = 64;
constexpr size_t kRunning = 2;

PoolOptions ManyThreads() {
  return {.kind = "test", .most_threads = kMany, .most_running = kRunning};
}

// Jobs that wait for each other: a burst of them needs all threads, though only the first is told.
TEST(Pool, AllThreadsTakePartInABurst) {
  constexpr int kThreads = 4;
  Pool pool({.kind = "test", .most_threads = kThreads});
  for (int round = 0; round < 500; ++round) {
    const auto all = std::make_shared<std::latch>(kThreads + 1);
    for (int i = 0; i < kThreads; ++i) {
      ASSERT_TRUE(pool.Post([all] { all->arrive_and_wait(); }));
    }
    all->arrive_and_wait();
  }
}

// One after the other, while another thread is held up.
TEST(Pool, ALongJobHoldsUpNoOther) {
  std::latch end(1);
  Pool pool({.kind = "test", .most_threads = 2});
  ASSERT_TRUE(pool.Post([&] { end.wait(); }));
  for (int round = 0; round < 500; ++round) {
    const auto done = std::make_shared<std::latch>(1);
    ASSERT_TRUE(pool.Post([done] { done->count_down(); }));
    done->wait();
  }
  end.count_down();
}

TEST(Pool, JobsThatWaitRunBeforeItEnds) {
  constexpr int kJobs = 100;
  std::atomic<int> done = 0;
  {
    Pool pool({.kind = "test", .most_threads = 2});
    for (int i = 0; i < kJobs; ++i) ASSERT_TRUE(pool.Post([&] { ++done; }));
  }
  EXPECT_EQ(done, kJobs);
}

TEST(Pool, RefusesJobsThatDoNotFitTheQueue) {
  std::latch started(1);
  std::latch end(1);
  Pool pool({.kind = "test", .most_threads = 1, .most_queued = 1});
  ASSERT_TRUE(pool.Post([&] {
    started.count_down();
    end.wait();
  }));
  started.wait();
  EXPECT_TRUE(pool.Post([] {}));
  EXPECT_FALSE(pool.Post([] {}));
  end.count_down();
}

TEST(Pool, OnlySomeJobsRunAtOnce) {
  const FakeClock clock;  // stands still: no job takes long
  Watchdog watchdog(clock);
  constexpr int kJobs = 5'000;
  std::atomic<size_t> running = 0;
  std::atomic<bool> too_many = false;
  std::latch done(kJobs);
  Pool pool(ManyThreads(), watchdog);
  for (int i = 0; i < kJobs; ++i) {
    ASSERT_TRUE(pool.Post([&] {
      if (++running > kRunning) too_many = true;
      std::this_thread::yield();
      --running;
      done.count_down();
    }));
  }
  done.wait();
  EXPECT_FALSE(too_many);
}

TEST(Pool, JobsThatWaitLetOthersRun) {
  const FakeClock clock;
  Watchdog watchdog(clock);
  std::latch all(kMany);
  Pool pool(ManyThreads(), watchdog);
  for (int i = 0; i < kMany; ++i) {
    ASSERT_TRUE(pool.Post([&all] {
      const WaitScope waits;
      all.arrive_and_wait();  // ends only when all jobs are here at once
    }));
  }
  all.wait();
}

TEST(Pool, JobsThatTakeLongLetOthersRun) {
  const HurriedClock clock;
  Watchdog watchdog(clock);
  std::latch all(kMany);
  Pool pool(ManyThreads(), watchdog);
  for (int i = 0; i < kMany; ++i) {
    ASSERT_TRUE(pool.Post([&all] { all.arrive_and_wait(); }));  // they don't say that they wait
  }
  all.wait();
}

TEST(Pool, AJobTakesLongAfterTheTimeThatTheOptionsSay) {
  FakeClock clock(1'000'000);
  Watchdog watchdog(clock);
  PoolOptions options = ManyThreads();
  options.most_running = 1;
  options.long_time = std::chrono::milliseconds(100);
  std::latch begun(1);
  std::latch second(1);
  Pool pool(options, watchdog);
  ASSERT_TRUE(pool.Post([&] {
    begun.count_down();
    second.wait();
  }));
  begun.wait();
  ASSERT_TRUE(pool.Post([&] { second.count_down(); }));
  clock.AdvanceMs(100);
  EXPECT_FALSE(second.try_wait());
  while (!second.try_wait()) {
    clock.AdvanceMs(20);
    std::this_thread::yield();
  }
}

TEST(Pool, EveryJobRunsOnceFromManyThreads) {
  constexpr int kJobs = 20'000;
  std::atomic<int> ran{0};
  std::latch done(4 * kJobs);
  std::vector<std::thread> posters;
  Pool pool({.kind = "test", .most_threads = 8, .most_running = kRunning});
  for (int poster = 0; poster < 4; ++poster) {
    posters.emplace_back([&] {
      for (int i = 0; i < kJobs; ++i) {
        pool.Post([&, waits = i % 100 == 0] {
          ++ran;
          if (waits) {
            const WaitScope scope;
            std::this_thread::yield();
          }
          done.count_down();
        });
      }
    });
  }
  for (std::thread& poster : posters) poster.join();
  done.wait();
  EXPECT_EQ(ran, 4 * kJobs);
}

TEST(Pool, NoMoreThreadsThanAllowedAndStopDropsJobsThatWait) {
  std::latch begun(2);
  std::latch go_on(1);
  std::atomic<int> ran{0};
  Pool pool({.kind = "test", .most_threads = 2, .most_running = 1});
  for (int i = 0; i < 5; ++i) {
    pool.Post([&] {
      ++ran;
      begun.count_down();
      const WaitScope waits;
      go_on.wait();
    });
  }
  begun.wait();
  std::thread stopper([&] { pool.Stop(); });
  // Refused from the moment that the pool stops, when the three that wait are dropped.
  while (pool.Post([] {})) std::this_thread::yield();
  go_on.count_down();
  stopper.join();
  EXPECT_EQ(ran, 2);
}

}  // namespace
}  // namespace sluice
