#include "query/functions/date_format.h"

#include <gtest/gtest.h>

#include "query/functions/duration.h"

namespace sluice::query {
namespace {

const Zone kUtc;

std::string Print(std::string_view date, std::string_view format) {
  const auto moment = ParseDate(date, "", kUtc);
  if (!moment) return "no date";
  return PrintDate(*moment, format).value_or("no format");
}

std::string Parse(std::string_view date, std::string_view format) {
  const auto moment = ParseDate(date, format, kUtc);
  return moment ? DateFormat::Default().Print(*moment) : "no date";
}

TEST(DateFormat, Prints) {
  const char* date = "2023-02-05T04:06:07.080+05:30";  // a Sunday
  const std::pair<const char*, const char*> cases[] = {
      {"", "2023-02-05T04:06:07.08+05:30"},
      {"1111-11-11", "2023-02-05"},
      {"1111/11/11 11:11", "2023/02/05 04:06"},
      {"1111-11-11T00:00:00Z", "2023-02-05T04:06:07+05:30"},
      {"1111-11-11T00:00:00.000000+0000", "2023-02-05T04:06:07.080000+0530"},
      {"11:11:11", "04:06:07"},
      {"11 o'clock", "2023-02-05T04:06:07.08+05:30"},
      {"2006-01-02T15:04:05.999Z07:00", "2023-02-05T04:06:07.08+05:30"},
      {"2006-01-02 15:04:05.000 -0700", "2023-02-05 04:06:07.080 +0530"},
      {"Mon, 2 Jan 06 3:04PM MST", "Sun, 5 Feb 23 4:06AM +0530"},
      {"Monday January _2 002", "Sunday February  5 036"},
      {"%Y-%m-%d %H:%M:%S.%N", "2023-02-05 04:06:07.080000000"},
      {"%F|%D|%T|%R|%r", "2023-02-05T04:06:07.08+05:30|2023-02-05|04:06:07|04:06|04:06:07 AM"},
      {"%-d/%-m/%y %-I %p %P", "5/2/23 4 AM am"},
      {"%A %^A %a %B %^b %d%f", "Sunday SUNDAY Sun February FEB 05th"},
      {"[%_3S] [%3M] %n %%", "[  7] [006] 080 %"},
      {"%z %:z %::z %:::z %Z %C", "+0530 +05:30 +05:30:00 +05:30 +0530 20"},
      {"%j %q %u %w %V %G %U %W", "36 1 7 0 5 2023 6 5"},
      {"%s %#", "1675550167 465430:36:07"},
      {"%", "no format"},
      {"%v", "no format"},
      {"%:Y", "no format"},
      {"%999Y", "no format"},
      {"YYYY-MM-DD hh:mm:ss.s TZD", "2023-02-05 04:06:07.080 +05:30"},
      {"DD Mon YY, HH:mm PP", "05 Feb 23, 04:06 AM"},
      {"DY DAY MONTH mon HH24:MI:SS am", "SUN SUNDAY FEBRUARY feb 04:06:07 am"},
      {"CC YYYY sss", "20 2023 080000000"},
  };
  for (const auto& [format, expected] : cases) EXPECT_EQ(Print(date, format), expected) << format;
  EXPECT_EQ(Print("2023-02-21T13:00:00Z", "%d%f %I%p TZD"), "21st 01PM TZD");
  EXPECT_EQ(Print("2023-02-22T00:00:00Z", "HH PP TZD"), "12 AM Z");
  EXPECT_EQ(Print("2023-02-22T00:00:00Z", "%-Z %Z"), "Z UTC");
}

TEST(DateFormat, Parses) {
  const std::pair<std::pair<const char*, const char*>, const char*> cases[] = {
      {{"2023-02-05", ""}, "2023-02-05T00:00:00Z"},
      {{"2023-02-05T10:11:12.123456789Z", ""}, "2023-02-05T10:11:12.123Z"},
      {{"2023-02-05T10:11:12 +02:00", ""}, "2023-02-05T10:11:12+02:00"},
      {{"10:11:12", ""}, "0000-01-01T10:11:12Z"},
      {{"2023-02-05T10:11", ""}, "2023-02-05T10:11:00Z"},
      {{"2023-02-05T", ""}, "no date"},
      {{"2023-02-05 10", ""}, "no date"},
      {{"2023-02-05T10:11:12.", ""}, "no date"},
      {{"2023-02-05T10:11:12.1234567890Z", ""}, "no date"},
      {{"2023-02-05T10:11:12X", ""}, "no date"},
      {{"2023-02-05T10:60:12Z", ""}, "no date"},
      {{"05.02.2023", "%d.%m.%Y"}, "2023-02-05T00:00:00Z"},
      {{"5 Feb 69", "%-d %b %y"}, "1969-02-05T00:00:00Z"},
      {{"5 feb 68", "%-d %^b %y"}, "2068-02-05T00:00:00Z"},
      {{"5 feb 68", "%-d %b %y"}, "no date"},
      {{"2023x02x05", "%Y %m %d"}, "2023-02-05T00:00:00Z"},
      {{"12:30 AM", "%I:%M %p"}, "0000-01-01T00:30:00Z"},
      {{"12:30 pm", "%I:%M %P"}, "0000-01-01T12:30:00Z"},
      {{"2023 036", "%Y %j"}, "2023-02-05T00:00:00Z"},
      {{"2023 366", "%Y %j"}, "no date"},
      {{"1700000000", "%s"}, "2023-11-14T22:13:20Z"},
      {{"2023-02-05 +0530", "%D %z"}, "2023-02-05T00:00:00+05:30"},
      {{"2023-07-05 Europe/Paris", "%D %Z"}, "2023-07-05T00:00:00+02:00"},
      {{"2023-07-05 No/Where", "%D %Z"}, "no date"},
      {{"2023 1", "%Y %q"}, "no date"},
      {{"5/2/2023 4:06", "DD/MM/YYYY hh:mm"}, "2023-02-05T04:06:00Z"},
      {{"05-Feb-2023 04:06:07.5 pm", "DD-Mon-YYYY HH:mm:ss.s pp"}, "2023-02-05T16:06:07.5Z"},
      {{"05 February 2023", "02 January 2006"}, "2023-02-05T00:00:00Z"},
      {{"3:04PM", "3:04PM"}, "0000-01-01T15:04:00Z"},
      {{"2023-02-05", "1111-11-11"}, "2023-02-05T00:00:00Z"},
      {{"2023-02-05T00:00:00Z", "1111-11-11"}, "no date"},
      {{"2023-02-30", "YYYY-MM-DD"}, "no date"},
  };
  for (const auto& [input, expected] : cases) {
    EXPECT_EQ(Parse(input.first, input.second), expected) << input.first << " " << input.second;
  }
}

TEST(DateFormat, ManyDatesComeBack) {
  for (int64_t seconds = -60'000'000'000; seconds < 250'000'000'000; seconds += 1'234'567'891) {
    const Moment moment{.seconds = seconds, .nanos = 120'000'000, .zone = {.offset = -3600}};
    const std::string text = DateFormat::Default().Print(moment);
    const auto back = ParseDate(text, "", kUtc);
    ASSERT_TRUE(back.has_value()) << text;
    EXPECT_EQ(back->seconds, seconds) << text;
    EXPECT_EQ(back->nanos, moment.nanos) << text;
  }
}

TEST(Duration, PrintsAndParses) {
  const std::pair<int64_t, const char*> cases[] = {
      {0, "0s"},
      {1, "1ns"},
      {1'500, "1.5µs"},
      {2'000'000, "2ms"},
      {2'500'000'000, "2.5s"},
      {90'000'000'000, "1m30s"},
      {5'402'500'000'000, "1h30m2.5s"},
      {3'600'000'000'000, "1h0m0s"},
      {-90'000'000'000, "-1m30s"},
  };
  for (const auto& [nanos, text] : cases) {
    EXPECT_EQ(PrintDuration(nanos, DurationStyle::kAny), text);
    EXPECT_EQ(ParseDuration(text, DurationStyle::kAny), nanos) << text;
    EXPECT_EQ(ParseDuration(text, DurationStyle::kLegacy), nanos) << text;
  }
  constexpr int64_t kSample = 5'402'500'000'000;
  EXPECT_EQ(PrintDuration(kSample, DurationStyle::kInterval), "1:30:02.500");
  EXPECT_EQ(PrintDuration(kSample, DurationStyle::kCompatible), "5402.500s");
  EXPECT_EQ(PrintDuration(kSample, DurationStyle::kSeconds), "5402.500");
  EXPECT_EQ(PrintDuration(1'000'000'001, DurationStyle::kSeconds), "1.000000001");
  EXPECT_EQ(PrintDuration(INT64_MIN, DurationStyle::kSeconds), "-9223372036.854775808");
  for (const char* text : {"1:30:02.500", "5402.5", "90m2.5s", "1.5h2500ms"}) {
    EXPECT_EQ(ParseDuration(text, DurationStyle::kAny), kSample) << text;
  }
  for (const char* text : {"", "1", "h", "1x", "1h-3m", "1:2", "nan", "1e3s", "9999999999h"}) {
    EXPECT_EQ(ParseDuration(text, DurationStyle::kLegacy), std::nullopt) << text;
  }
  for (const char* text : {"1:2:3:4", "1.5:2", ":", "1:"}) {
    EXPECT_EQ(ParseDuration(text, DurationStyle::kInterval), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace sluice::query
