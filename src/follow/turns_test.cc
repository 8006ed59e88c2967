#include "follow/turns.h"

#include <atomic>
#include <future>
#include <memory>

#include <gtest/gtest.h>

namespace sluice::follow {
namespace {

bool Never() { return false; }

TEST(TurnsTest, ThereAreNoneBeforeAConflict) {
  Turns turns;
  const Turns::Turn first(turns, Never);
  const Turns::Turn second(turns, Never);
  EXPECT_FALSE(first.alone());
  EXPECT_FALSE(second.alone());
}

TEST(TurnsTest, AWorkerThatStopsLeavesTheQueue) {
  Turns turns;
  turns.Conflicted();
  auto first = std::make_unique<Turns::Turn>(turns, Never);
  EXPECT_TRUE(first->alone());
  std::atomic<bool> stopping = false;
  auto second = std::async(std::launch::async, [&] {
    return Turns::Turn(turns, [&] { return stopping.load(); }).alone();
  });
  stopping = true;
  turns.Wake();
  EXPECT_FALSE(second.get()) << "while the first one has its turn";
  auto third = std::async(std::launch::async, [&] { return Turns::Turn(turns, Never).alone(); });
  first.reset();
  EXPECT_TRUE(third.get());
}

}  // namespace
}  // namespace sluice::follow
