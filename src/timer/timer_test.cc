// The stored form of timers is fixed: docs/formats/timers.md.
#include "timer/timer.h"

#include "db/test_formats.h"

namespace sluice::timer {
namespace {

TEST(TimerFormat, Golden) {
  EXPECT_EQ(ToHex(OwnerPrefix("f")), "6600");
  EXPECT_EQ(ToHex(DuePrefix("f")), "660064");
  EXPECT_EQ(ToHex(DueKey("f", {258, 3})), "66006400000000000001020000000000000003");
  EXPECT_EQ(ToHex(NameKey("f", "cb", "r")), "66006e63620072");
  const Timer timer{"cb", "r", {258, 3}, "{}"};
  EXPECT_EQ(ToHex(EncodeDue(timer)), "0102636201727b7d");
  EXPECT_EQ(ToHex(EncodeName({258, 3})), "0100000000000001020000000000000003");
  EXPECT_EQ(*DecodeDue(DueKey("f", {258, 3}), EncodeDue(timer)), timer);
  EXPECT_EQ(*DecodeName(EncodeName({258, 3})), (Moment{258, 3}));
  EXPECT_EQ(*OwnerOf(NameKey("f", "cb", "r")), "f");
}

TEST(TimerFormat, RefusesWhatItDoesNotKnow) {
  db::ExpectOnlyWhole(EncodeName({1, 2}),
                      [](std::string_view row) { return DecodeName(row).has_value(); });
  const std::string key = DueKey("f", {1, 2});
  // A context may end anywhere, so this one has none.
  db::ExpectOnlyWhole(EncodeDue({"cb", "r", {1, 2}, ""}),
                      [&](std::string_view row) { return DecodeDue(key, row).has_value(); });
  EXPECT_FALSE(DecodeName(EncodeName({1, 2}) + "x"));
  EXPECT_EQ(DecodeDue("short", EncodeDue({})).error().id(), "timer.corrupt");
  EXPECT_EQ(OwnerOf("nobody").error().id(), "timer.corrupt");
}

TEST(TimerFormat, SortsByDueTime) {
  EXPECT_LT(DueKey("f", {255, 9}), DueKey("f", {256, 1}));
  EXPECT_LT(DueKey("f", {256, 1}), DueKey("f", {256, 2}));
  EXPECT_LT(DueKey("f", {UINT64_MAX, 1}), DueKey("g", {0, 0}));
}

// A million timers must not cost more than 300 bytes each, as they are before any compression.
TEST(TimerFormat, IsSmall) {
  const std::string owner = "function:4294967295-0a1b2c3d";
  const Timer timer{"SendReminder", "customer::1234567", {1'700'000'000'000, 1}, R"({"id":"1"})"};
  const size_t bytes = DueKey(owner, timer.moment).size() + EncodeDue(timer).size() +
                       NameKey(owner, timer.callback, timer.reference).size() +
                       EncodeName(timer.moment).size();
  EXPECT_LT(bytes, 200u);
}

}  // namespace
}  // namespace sluice::timer
