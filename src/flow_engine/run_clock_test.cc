#include "flow_engine/run_clock.h"

#include <gtest/gtest.h>

namespace sluice::flow_engine {
namespace {

class SetClock final : public Clock {
 public:
  uint64_t WallNs() const override { return wall_ns; }
  uint64_t MonotonicNs() const override { return monotonic_ns; }

  uint64_t wall_ns = 1'000'000'000;
  uint64_t monotonic_ns = 5'000'000;
};

TEST(RunClockTest, FollowsAWallClockThatIsSetForwardOnly) {
  SetClock clock;
  RunClock time(clock);
  EXPECT_EQ(time.NowMs(), 1000u);
  clock.monotonic_ns += 7'000'000;
  EXPECT_EQ(time.NowMs(), 1007u);
  clock.wall_ns += 60'000'000;
  time.Adjust();
  EXPECT_EQ(time.NowMs(), 1060u);
  // Set back, it is not followed, and time goes on.
  clock.wall_ns = 10'000'000;
  clock.monotonic_ns += 1'000'000;
  time.Adjust();
  EXPECT_EQ(time.NowMs(), 1061u);
  EXPECT_EQ(time.MsAt(clock.monotonic_ns + 2'000'000), 1063u);
}

}  // namespace
}  // namespace sluice::flow_engine
