#include "json/temporal.h"

#include <gtest/gtest.h>

namespace sluice::json {
namespace {

std::string Text(Datetime value) {
  std::string text;
  AppendDatetime(value, &text);
  return text;
}

std::string Text(Interval value) {
  std::string text;
  AppendInterval(value, &text);
  return text;
}

TEST(Datetime, PrintsIso8601) {
  constexpr int64_t kDay = 86'400'000'000;
  EXPECT_EQ(Text(Datetime{0}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(Text(Datetime{-1}), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(Text(Datetime{1'709'210'096'789'000}), "2024-02-29T12:34:56.789Z");
  EXPECT_EQ(Text(Datetime{kDay * 11'016}), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(Text(Datetime{kDay * -25'508}), "1900-03-01T00:00:00.000Z");
  EXPECT_EQ(Text(Datetime{kDay * -719'528}), "0000-01-01T00:00:00.000Z");
  EXPECT_EQ(Text(Datetime{kDay * -719'529}), "-000001-12-31T00:00:00.000Z");
  EXPECT_EQ(Text(Datetime{kDay * 2'932'897}), "+010000-01-01T00:00:00.000Z");
  EXPECT_EQ(Text(Datetime{INT64_MAX}), "+294247-01-10T04:00:54.775807Z");
  EXPECT_EQ(Text(Datetime{INT64_MIN}), "-290308-12-21T19:59:05.224192Z");
}

TEST(Interval, PrintsBothKinds) {
  EXPECT_EQ(Text(Interval{Interval::Kind::kYearMonth, 27}), "2-03");
  EXPECT_EQ(Text(Interval{Interval::Kind::kYearMonth, -1}), "-0-01");
  EXPECT_EQ(Text(Interval{Interval::Kind::kDaySecond, 273'906'000'000}), "3 04:05:06.000");
  EXPECT_EQ(Text(Interval{Interval::Kind::kDaySecond, -1}), "-0 00:00:00.000001");
  EXPECT_EQ(Text(Interval{Interval::Kind::kDaySecond, INT64_MIN}), "-106751991 04:00:54.775808");
}

TEST(Interval, YearMonthOrdersFirst) {
  EXPECT_LT((Interval{Interval::Kind::kYearMonth, 1000}),
            (Interval{Interval::Kind::kDaySecond, 1}));
}

}  // namespace
}  // namespace sluice::json
