#include "json/decimal.h"

#include <limits>

#include <gtest/gtest.h>

namespace sluice::json {
namespace {

TEST(Decimal, PrintsDigitForDigit) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"0", "0"},
      {"-0", "0"},
      {"0.00", "0.00"},
      {"12.50", "12.50"},
      {"-.5", "-0.5"},
      {"+7", "7"},
      {"1e3", "1e3"},
      {"1.5e-10", "1.5e-10"},
      {"0.000001", "0.000001"},
      {"0.0000001", "1e-7"},
      {"1234567890123456789012345678901234", "1234567890123456789012345678901234"},
      {"9.999999999999999999999999999999999e6144", "9.999999999999999999999999999999999e6144"},
  };
  for (const auto& [text, printed] : cases) {
    const auto value = Decimal::Parse(text);
    ASSERT_TRUE(value) << text;
    EXPECT_EQ(value->ToString(), printed);
    const auto again = Decimal::Parse(printed);
    EXPECT_EQ(again->coefficient == value->coefficient, true) << text;
    EXPECT_EQ(again->exponent, value->exponent) << text;
  }
}

TEST(Decimal, RefusesWhatDoesNotFit) {
  for (const char* text :
       {"", "-", ".", "1e", "1e+", "1e+-2", "1x", "1.2.3", " 1", "1e6112", "1e-6177",
        "12345678901234567890123456789012345", "nan", "1e99999999999"}) {
    const auto value = Decimal::Parse(text);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().id(), "decimal.invalid");
  }
}

TEST(ExactDigits, AgreeAcrossTypes) {
  EXPECT_EQ(ExactDigits::Of(INT64_MIN).digits, "9223372036854775808");
  EXPECT_EQ(ExactDigits::Of(-9223372036854775808.0), ExactDigits::Of(INT64_MIN));
  EXPECT_EQ(ExactDigits::Of(*Decimal::Parse("-0.0")), ExactDigits::Of(int64_t{0}));
  EXPECT_EQ(ExactDigits::Of(0.1).digits, "1000000000000000055511151231257827021181583404541015625");
  EXPECT_EQ(ExactDigits::Of(std::numeric_limits<double>::denorm_min()).point, -323);
  EXPECT_LT(ExactDigits::Of(*Decimal::Parse("0.1")), ExactDigits::Of(0.1));
  EXPECT_GT(ExactDigits::Of(*Decimal::Parse("-0.1")), ExactDigits::Of(-0.1));
  EXPECT_LT(ExactDigits::Of(int64_t{-1}), ExactDigits::Of(int64_t{0}));
  EXPECT_LT(ExactDigits::Of(int64_t{9}), ExactDigits::Of(int64_t{10}));
}

TEST(Decimal, NearestDouble) {
  EXPECT_EQ(NearestDouble(*Decimal::Parse("0.1")), 0.1);
  EXPECT_EQ(NearestDouble(*Decimal::Parse("-1e400")), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(NearestDouble(*Decimal::Parse("1e-400")), 0.0);
}

}  // namespace
}  // namespace sluice::json
