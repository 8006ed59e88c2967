#include "flow_engine/pool.h"

#include <atomic>
#include <latch>

#include <gtest/gtest.h>

#include "base/wait_scope.h"

namespace sluice::flow_engine {
namespace {

constexpr int kMany = 64;  // more than any machine's cores that tests run on

TEST(PoolTest, JobsThatWaitLetOthersRun) {
  Pool pool("test", kMany);
  std::latch all(kMany);
  for (int i = 0; i < kMany; ++i) {
    ASSERT_TRUE(pool.Post([&all] {
      const WaitScope waits;
      all.arrive_and_wait();  // ends only when all jobs are here at once
    }));
  }
  all.wait();
}

TEST(PoolTest, JobsThatTakeLongLetOthersRun) {
  Pool pool("test", kMany);
  std::latch all(kMany);
  for (int i = 0; i < kMany; ++i) {
    ASSERT_TRUE(pool.Post([&all] { all.arrive_and_wait(); }));  // they don't say that they wait
  }
  all.wait();
}

TEST(PoolTest, EveryJobRunsOnceFromManyThreads) {
  constexpr int kJobs = 20'000;
  Pool pool("test", 8);
  std::atomic<int> ran{0};
  std::latch done(4 * kJobs);
  std::vector<std::thread> posters;
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

TEST(PoolTest, NoMoreThreadsThanAllowedAndStopDropsWhatWaits) {
  auto pool = std::make_unique<Pool>("test", 2);
  std::latch begun(2);
  std::latch go_on(1);
  std::atomic<int> ran{0};
  for (int i = 0; i < 5; ++i) {
    pool->Post([&] {
      ++ran;
      begun.count_down();
      const WaitScope waits;
      go_on.wait();
    });
  }
  begun.wait();
  std::thread stopper([&] { pool->Stop(); });
  // Refused from the moment that the pool stops, when the three that wait are dropped.
  while (pool->Post([] {})) std::this_thread::yield();
  go_on.count_down();
  stopper.join();
  EXPECT_EQ(ran, 2);
}

}  // namespace
}  // namespace sluice::flow_engine
