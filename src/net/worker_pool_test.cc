#include "net/worker_pool.h"

#include <atomic>
#include <latch>
#include <memory>

#include <gtest/gtest.h>

namespace sluice::net {
namespace {

// Jobs that wait for each other: a burst of them needs all threads, though only the first is told.
TEST(WorkerPool, AllThreadsTakePartInABurst) {
  constexpr int kThreads = 4;
  WorkerPool pool("test", kThreads, 1000);
  for (int round = 0; round < 500; ++round) {
    const auto all = std::make_shared<std::latch>(kThreads + 1);
    for (int i = 0; i < kThreads; ++i) {
      ASSERT_TRUE(pool.TrySubmit([all] { all->arrive_and_wait(); }));
    }
    all->arrive_and_wait();
  }
}

// One after the other, while another thread is held up.
TEST(WorkerPool, ALongJobHoldsUpNoOther) {
  WorkerPool pool("test", 2, 1000);
  std::latch end(1);
  ASSERT_TRUE(pool.TrySubmit([&] { end.wait(); }));
  for (int round = 0; round < 500; ++round) {
    const auto done = std::make_shared<std::latch>(1);
    ASSERT_TRUE(pool.TrySubmit([done] { done->count_down(); }));
    done->wait();
  }
  end.count_down();
}

TEST(WorkerPool, WhatIsQueuedIsDoneBeforeItEnds) {
  constexpr int kJobs = 100;
  std::atomic<int> done = 0;
  {
    WorkerPool pool("test", 2, kJobs);
    for (int i = 0; i < kJobs; ++i) ASSERT_TRUE(pool.TrySubmit([&] { ++done; }));
  }
  EXPECT_EQ(done, kJobs);
}

TEST(WorkerPool, RefusesWhatDoesNotFit) {
  WorkerPool pool("test", 1, 1);
  std::latch started(1);
  std::latch end(1);
  ASSERT_TRUE(pool.TrySubmit([&] {
    started.count_down();
    end.wait();
  }));
  started.wait();
  EXPECT_TRUE(pool.TrySubmit([] {}));
  EXPECT_FALSE(pool.TrySubmit([] {}));
  end.count_down();
}

}  // namespace
}  // namespace sluice::net
