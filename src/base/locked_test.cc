#include "base/locked.h"

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Locked, ThreadsTakeTurns) {
  Locked<std::vector<int>> numbers;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) numbers.Lock()->push_back(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(numbers.Lock()->size(), 4000u);
}

TEST(Locked, WhatIsReplacedEndsOutsideOfTheLock) {
  Locked<std::shared_ptr<const int>> latest(std::make_shared<const int>(1));
  // Its end takes the lock itself.
  latest.Set(std::shared_ptr<const int>(new int(2), [&](const int* value) {
    EXPECT_EQ(*latest.Copy(), 3);
    delete value;
  }));
  EXPECT_EQ(*latest.Copy(), 2);
  latest.Set(std::make_shared<const int>(3));
  EXPECT_EQ(*latest.Exchange(nullptr), 3);
  EXPECT_EQ(latest.Copy(), nullptr);
}

TEST(Locked, NoOtherLockIsTakenBesideIt) {
  Locked<int> leaf;
  Mutex mutex;
  Locked<int> other;
  const auto held = leaf.Lock();
  EXPECT_DEATH(MutexLock{mutex}, "held == 0");
  EXPECT_DEATH((void)other.Copy(), "held == 0");
}

}  // namespace
}  // namespace sluice
