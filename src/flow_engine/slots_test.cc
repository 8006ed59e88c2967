// Instances of a route that many threads want.
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "flow_engine/route.h"

namespace sluice::flow_engine {
namespace {

// Gives the instance back, and runs what waits for it.
void Leave(Route& route, Route::Slot* slot) {
  while (auto job = route.Leave(slot)) (*job)(*slot);
}

TEST(SlotsTest, NoCallIsLostAndNoInstanceIsUsedTwice) {
  constexpr int kThreads = 6;
  constexpr int kCalls = 20'000;
  for (const int instances : {1, 2, 5}) {
    Route route("r", {.instances = instances, .queue = kThreads * kCalls}, nullptr);
    std::atomic<int> busy = 0;
    std::atomic<int> most = 0;
    std::atomic<int> ran = 0;
    const auto run = [&](Route::Slot& slot) {
      const int now = ++busy;
      int seen = most;
      while (seen < now && !most.compare_exchange_weak(seen, now)) {
      }
      ++slot.number;  // a race is seen by it
      ++ran;
      --busy;
    };
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kCalls; ++i) {
          Route::Job job = [&](Route::Slot& slot) { run(slot); };
          const auto slot = route.Enter(job);
          ASSERT_TRUE(slot.has_value());
          if (*slot == nullptr) continue;
          run(**slot);
          Leave(route, *slot);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(ran, kThreads * kCalls);
    EXPECT_LE(most, instances);
    EXPECT_EQ(route.stats().busy, 0);
    EXPECT_EQ(route.stats().waiting, 0u);
  }
}

// Two who know of each other: what the second one sends comes after what the first one has sent.
TEST(SlotsTest, CallsOfOneInstanceKeepTheirOrder) {
  Route route("r", {.instances = 1}, nullptr);
  int last = -1;  // only who holds the instance has it
  constexpr int kCalls = 2000;
  std::atomic<int> next = 0;
  const auto in_turn = [&](int which) {
    for (int number = which; number < kCalls; number += 2) {
      while (next != number) std::this_thread::yield();
      // The next one may come while this one runs, or is being given back.
      const auto run = [&last, &next, number](Route::Slot&) {
        EXPECT_EQ(last, number - 1);
        last = number;
        next = number + 1;
      };
      Route::Job job = run;
      const auto slot = route.Enter(job);
      ASSERT_TRUE(slot.has_value());
      if (*slot == nullptr) continue;
      run(**slot);
      Leave(route, *slot);
    }
  };
  std::thread other([&] { in_turn(1); });
  in_turn(0);
  other.join();
  EXPECT_EQ(last, kCalls - 1);
}

TEST(SlotsTest, AThreadFindsTheInstanceThatItHad) {
  Route route("r", {.instances = 4}, nullptr);
  // Two threads share a spot if as many others as there are spots came between them. None comes
  // between these two.
  std::thread([&route] {
    Route::Slot* const mine = route.TryEnter();
    Route::Slot* other = nullptr;
    std::thread([&] {
      other = route.TryEnter();
      Leave(route, other);
    }).join();
    Leave(route, mine);
    EXPECT_EQ(route.TryEnter(), mine);
    // Another one's is taken before one is made.
    std::vector<Route::Slot*> all;
    while (Route::Slot* const slot = route.TryEnter()) all.push_back(slot);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all.front(), other);
    EXPECT_EQ(route.stats().busy, 4);
  }).join();
}

}  // namespace
}  // namespace sluice::flow_engine
