#include "flow/cron.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::flow {
namespace {

constexpr uint64_t kMinute = 60'000;
constexpr uint64_t kHour = 60 * kMinute;
constexpr uint64_t kDay = 24 * kHour;

// 1970 began on a Thursday.
uint64_t After(std::string_view text, uint64_t time_ms) {
  const auto cron = Cron::Parse(text);
  EXPECT_TRUE(cron.has_value()) << text;
  return cron ? cron->After(time_ms).value_or(0) : 0;
}

std::string Problem(std::string_view text) {
  const auto cron = Cron::Parse(text);
  return cron ? "" : cron.error().id() + ": " + cron.error().message();
}

TEST(CronTest, NextTimes) {
  EXPECT_EQ(After("* * * * *", 0), kMinute);
  EXPECT_EQ(After("* * * * *", kMinute - 1), kMinute);
  EXPECT_EQ(After("*/15 * * * *", 0), 15 * kMinute);
  EXPECT_EQ(After("*/15 * * * *", 45 * kMinute), kHour);
  EXPECT_EQ(After("5/20 * * * *", 5 * kMinute), 25 * kMinute);
  EXPECT_EQ(After("30 3 * * *", 0), 3 * kHour + 30 * kMinute);
  EXPECT_EQ(After("30 3 * * *", 3 * kHour + 30 * kMinute), kDay + 3 * kHour + 30 * kMinute);
  EXPECT_EQ(After("0 0 * * fri", 0), kDay);
  EXPECT_EQ(After("0 0 * * mon-FRI", 2 * kDay), 4 * kDay);  // after a Saturday
  EXPECT_EQ(After("0 0 * * 7", 0), 3 * kDay);
  EXPECT_EQ(After("0 0 1 feb *", 0), 31 * kDay);
  EXPECT_EQ(After("0 0 29 2 *", 0), (365 * 2 + 31 + 28) * kDay);
  // Both days restricted: either counts.
  EXPECT_EQ(After("0 0 4 * sat", 0), 2 * kDay);
  EXPECT_EQ(After("0 0 4 * sat", 2 * kDay), 3 * kDay);
  EXPECT_EQ(After("0 8,20 * * *", 9 * kHour), 20 * kHour);
}

TEST(CronTest, WhatIsNone) {
  EXPECT_EQ(Problem("* * * *"),
            "flow.bad_cron: '* * * *' is not a schedule: expected minute, hour, day of the month, "
            "month and day of the week, as in '0 3 * * mon'");
  EXPECT_NE(Problem("60 * * * *").find("the minute '60' is none"), std::string::npos);
  EXPECT_NE(Problem("* 5-2 * * *").find("the hour '5-2' is none"), std::string::npos);
  EXPECT_NE(Problem("* * * * noday").find("the day of the week"), std::string::npos);
  EXPECT_NE(Problem("*/0 * * * *").find("the minute"), std::string::npos);
  EXPECT_NE(Problem("1,,2 * * * *").find("the minute"), std::string::npos);
  EXPECT_EQ(Problem("0 0 30 feb *"),
            "flow.bad_cron: '0 0 30 feb *' names a day that there never is");
}

}  // namespace
}  // namespace sluice::flow
