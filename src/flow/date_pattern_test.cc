#include "flow/date_pattern.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace sluice::flow {
namespace {

constexpr int64_t kMoment = 1'773'580'987'083;  // 2026-03-15T13:23:07.083Z

std::string Formatted(std::string_view pattern, const std::string& zone = "UTC") {
  const auto parsed = DatePattern::Parse(pattern);
  if (!parsed) return parsed.error().message();
  const auto text = parsed->Format(kMoment, zone);
  return text ? *text : text.error().message();
}

std::string ReadBack(std::string_view pattern, std::string_view text) {
  const auto moment = DatePattern::Parse(pattern)->Read(text);
  return moment ? IsoTime(*moment) : moment.error().message();
}

TEST(DatePattern, Formats) {
  EXPECT_EQ(Formatted("yyyy-MM-dd'T'HH:mm:ss.SSSXX"
                      "X"),
            "2026-03-15T13:23:07.083Z");
  EXPECT_EQ(Formatted("d/M/yy H:m:s"), "15/3/26 13:23:7");
  EXPECT_EQ(Formatted("EEEE, d MMMM yyyy hh:mm a"), "Sunday, 15 March 2026 01:23 PM");
  EXPECT_EQ(Formatted("EEE MMM SS SSSSSS Z VV"), "Sun Mar 08 083000 +0000 UTC");
  EXPECT_EQ(Formatted("HH:mm XX"
                      "X",
                      "America/New_York"),
            "09:23 -04:00");
  EXPECT_EQ(Formatted("HH 'o''clock' ''", "UTC"), "13 o'clock '");
}

TEST(DatePattern, Reads) {
  EXPECT_EQ(ReadBack("MM/dd/yyyy VV", "03/15/2026 UTC"), "2026-03-15T00:00:00.000Z");
  EXPECT_EQ(ReadBack("yyyy-MM-dd HH:mm:ss.SSS XX"
                     "X",
                     "2026-03-15 13:23:07.083 +02:00"),
            "2026-03-15T11:23:07.083Z");
  EXPECT_EQ(ReadBack("d MMM yy hh:mm a Z", "5 jun 26 12:05 am -0100"), "2026-06-05T01:05:00.000Z");
  EXPECT_EQ(ReadBack("EEEE d MMMM yyyy X", "Monday 1 January 2024 Z"), "2024-01-01T00:00:00.000Z");
  EXPECT_EQ(ReadBack("HH:mm:ss.S X", "10:11:12.5 Z"), "1970-01-01T10:11:12.500Z");
}

TEST(DatePattern, RefusesWhatIsNoDate) {
  const auto refused = [](std::string_view pattern, std::string_view text) {
    return ReadBack(pattern, text) == fmt::format("'{}' is not a date of the given pattern", text);
  };
  EXPECT_TRUE(refused("yyyy-MM-dd", "2026-02-30"));
  EXPECT_TRUE(refused("yyyy-MM-dd", "2026-2-3"));
  EXPECT_TRUE(refused("yyyy-MM-dd", "2026-12-01x"));
  EXPECT_TRUE(refused("yyyy-MM-dd", ""));
  EXPECT_TRUE(refused("HH:mm X", "24:00 Z"));
  EXPECT_EQ(ReadBack("yyyy VV", "2026 Nowhere/Town"), "there is no time zone 'Nowhere/Town'");
}

}  // namespace
}  // namespace sluice::flow
