#include <cmath>
#include <limits>

#include "query/functions/test_context.h"

namespace sluice::query {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(NumberFunctionsTest, Calls) {
  CheckTexts({
      {"abs", "[-5]", "5"},
      {"abs", "[-5.5]", "5.5"},
      {"abs", "[-9223372036854775808]", "9223372036854776000"},
      {"acos", "[1]", "0"},
      {"asin", "[0]", "0"},
      {"atan", "[1]", "0.7853981633974483"},
      {"atan2", "[1, -1]", "2.356194490192345"},
      {"ceil", "[1.2]", "2"},
      {"ceil", "[9007199254740993]", "9007199254740993"},
      {"cos", "[0]", "1"},
      {"degrees", "[3.141592653589793]", "180"},
      {"exp", "[0]", "1"},
      {"floor", "[-1.2]", "-2"},
      {"ln", "[1]", "0"},
      {"log", "[1000]", "3"},
      {"pi", "[]", "3.141592653589793"},
      {"e", "[]", "2.718281828459045"},
      {"radians", "[180]", "3.141592653589793"},
      {"sign", "[-3.5]", "-1"},
      {"sign", "[0]", "0"},
      {"sin", "[0]", "0"},
      {"sqrt", "[16]", "4"},
      {"tan", "[0]", "0"},
  });
}

TEST(NumberFunctionsTest, Rounding) {
  CheckTexts({
      {"round", "[2.5]", "2"},
      {"round", "[3.5]", "4"},
      {"round", "[-2.5]", "-2"},
      {"round", "[2.51]", "3"},
      {"round", "[1.25, 1]", "1.2"},
      {"round", "[1.35, 1]", "1.4"},
      {"round_even", "[1250, -2]", "1200"},
      {"round", "[0.49999999999999994]", "0"},
      {"round", "[9007199254740993]", "9007199254740993"},
      {"round", "[1.5, 400]", "1.5"},
      {"round", "[1e308, 5]", "1e+308"},
      {"round", "[15, -400]", "0"},
      {"round", "[1.5, 0.5]", "null"},
      {"round_nearest", "[2.5]", "3"},
      {"round_nearest", "[-2.5]", "-3"},
      {"round_nearest", "[1.25, 1]", "1.3"},
      {"trunc", "[-2.9]", "-2"},
      {"trunc", "[1.289, 2]", "1.28"},
      {"trunc", "[1289, -2]", "1200"},
  });
  CheckCalls({{"round", {kInfinity}, kInfinity}, {"trunc", {-kInfinity, 2}, -kInfinity}});
}

TEST(NumberFunctionsTest, Special) {
  TestContext context;
  EXPECT_EQ(Call(context, "inf", {}).AsDouble(), kInfinity);
  EXPECT_EQ(Call(context, "neg_inf", {}).AsDouble(), -kInfinity);
  EXPECT_TRUE(std::isnan(Call(context, "nan", {}).AsDouble()));
  EXPECT_TRUE(std::isnan(Call(context, "sqrt", {-1}).AsDouble()));
  EXPECT_EQ(Call(context, "ln", {0}).AsDouble(), -kInfinity);
}

TEST(NumberFunctionsTest, Random) {
  TestContext context;
  for (int i = 0; i < 100; ++i) {
    context.random = ~uint64_t{0} / 100 * static_cast<uint64_t>(i);
    const double number = Call(context, "random", {}).AsDouble();
    EXPECT_GE(number, 0);
    EXPECT_LT(number, 1);
  }
  EXPECT_EQ(Call(context, "random", {7}), Call(context, "random", {7.0}));
  EXPECT_FALSE(Call(context, "random", {7}) == Call(context, "random", {8}));
  EXPECT_TRUE(Call(context, "random", {7.5}).is_null());
  CheckUnknowns("random", {7}, {"a"});
}

TEST(NumberFunctionsTest, Unknowns) {
  for (const char* name : {"abs", "acos", "asin", "atan", "ceil", "cos", "deg", "exp", "floor",
                           "ln", "log", "rad", "sign", "sin", "sqrt", "tan"}) {
    CheckUnknowns(name, {1}, {"1"});
  }
  CheckUnknowns("atan2", {1, 1}, {"1", true});
  for (const char* name : {"round", "round_nearest", "trunc"}) {
    CheckUnknowns(name, {1.5, 1}, {"1", Value::EmptyArray()});
  }
}

}  // namespace
}  // namespace sluice::query
