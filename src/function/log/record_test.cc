#include "function/log/record.h"

#include <gtest/gtest.h>

namespace sluice::function {
namespace {

TEST(LogRecordTest, IsPrintedWithTimeAndLevel) {
  setenv("TZ", "UTC", 1);
  tzset();
  EXPECT_EQ(PrintRecord({1'700'000'000'007, LogLevel::kInfo, "\"a\" 1 "}),
            "2023-11-14T22:13:20.007+00:00 [INFO] \"a\" 1 ");
  setenv("TZ", "ZZZ+7:30", 1);
  tzset();
  EXPECT_EQ(PrintRecord({1'700'000'000'007, LogLevel::kWarning, "w"}),
            "2023-11-14T14:43:20.007-07:30 [WARNING] w");
  unsetenv("TZ");
  tzset();
}

TEST(LogRecordTest, TextCantBeginARecordOfItsOwn) {
  const std::string forged = "a\n2023-11-14T22:13:20.007+00:00 [ERROR] b\n  c\n\n";
  const std::string printed = PrintRecord({0, LogLevel::kInfo, forged});
  EXPECT_TRUE(printed.ends_with("[INFO] a\n    2023-11-14T22:13:20.007+00:00 [ERROR] b\n  c"))
      << printed;
  const std::string two = printed + "\n" + PrintRecord({0, LogLevel::kError, "next"}) + "\n";
  const std::vector<std::string_view> records = SplitRecords(two);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0], printed);
  EXPECT_EQ(TextOfRecord(records[1]), "next");
}

TEST(LogRecordTest, APartBeginsWithItsFirstWholeRecord) {
  EXPECT_EQ(SplitRecords("    rest of one\nx [INFO] a\ny [INFO] b"),
            (std::vector<std::string_view>{"x [INFO] a", "y [INFO] b"}));
  EXPECT_TRUE(SplitRecords("").empty());
  EXPECT_TRUE(SplitRecords("    only a rest\n").empty());
}

TEST(LogRecordTest, LevelsHaveTheNamesOfTheSetting) {
  for (const char* name : {"ERROR", "WARNING", "INFO", "DEBUG", "TRACE"}) {
    EXPECT_EQ(LogLevelName(LogLevelOf(name)), name);
  }
}

}  // namespace
}  // namespace sluice::function
