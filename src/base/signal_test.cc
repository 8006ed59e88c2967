#include "base/signal.h"

#include <thread>

#include <gtest/gtest.h>

#include "base/clock.h"

namespace sluice {
namespace {

using Waited = Signal::Waited;

TEST(Signal, NewsBetweenLookingAndWaitingEndTheWaitAtOnce) {
  Signal signal;
  const uint64_t seen = signal.news();
  signal.Wake();
  EXPECT_EQ(signal.Wait(seen), Waited::kNews);
  EXPECT_EQ(signal.Wait(seen), Waited::kNews);
}

TEST(Signal, WakesAThreadThatWaits) {
  Signal signal;
  const uint64_t seen = signal.news();
  std::thread waker([&] { signal.Wake(); });
  EXPECT_EQ(signal.Wait(seen), Waited::kNews);
  waker.join();
}

TEST(Signal, ADeadlineTakesNoTimeInTests) {
  JumpingClock clock;
  Signal signal(clock);
  const Clock::Time before = clock.Now();
  EXPECT_EQ(signal.Wait(signal.news(), before + std::chrono::hours(1)), Waited::kTimeout);
  EXPECT_EQ(clock.Now() - before, std::chrono::hours(1));
}

TEST(Signal, OnceClosedNobodyWaits) {
  Signal signal;
  EXPECT_FALSE(signal.closed());
  std::thread closer([&] { signal.Close(); });
  EXPECT_EQ(signal.Wait(signal.news()), Waited::kClosed);
  closer.join();
  EXPECT_TRUE(signal.closed());
  EXPECT_EQ(signal.Wait(signal.news()), Waited::kClosed);
}

}  // namespace
}  // namespace sluice
