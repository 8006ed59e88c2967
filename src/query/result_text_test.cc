#include "query/result_text.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "json/parse.h"

namespace sluice::query {
namespace {

using json::Value;

TEST(ResultTextTest, Numbers) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ResultText(5), "5");
  EXPECT_EQ(ResultText(2.0), "2");
  EXPECT_EQ(ResultText(-0.0), "0");
  EXPECT_EQ(ResultText(0.1), "0.1");
  EXPECT_EQ(ResultText(1e23), "100000000000000000000000");
  EXPECT_EQ(ResultText(-1.5e-10), "-0.00000000015");
  EXPECT_EQ(ResultText(std::nan("")), "\"NaN\"");
  EXPECT_EQ(ResultText(kInfinity), "\"+Infinity\"");
  EXPECT_EQ(ResultText(-kInfinity), "\"-Infinity\"");
  EXPECT_EQ(ResultText(Value::Unsigned(18446744073709551615u)), "18446744073709551615");
}

TEST(ResultTextTest, NumbersThatCameAsText) {
  EXPECT_EQ(ResultText(*json::Parse("[1.50, 2.0, 1e3, -0, -0.0, 12345678901234567890123]")),
            "[1.5,2,1000,0,0,12345678901234567890123]");
}

TEST(ResultTextTest, Structures) {
  const Value value = Value::Object({{"a", Value::Array({1, Value(), "x"})}});
  EXPECT_EQ(ResultText(value), "{\"a\":[1,null,\"x\"]}");
  std::string text;
  AppendResult(Value::Object({{"a", 1}}), &text, 4);
  EXPECT_EQ(text, "{\n    \"a\": 1\n}");
}

}  // namespace
}  // namespace sluice::query
