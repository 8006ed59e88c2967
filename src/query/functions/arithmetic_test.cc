#include "query/functions/arithmetic.h"

#include <cmath>
#include <limits>

#include "json/decimal.h"
#include "query/functions/test_context.h"

namespace sluice::query {
namespace {

Value DecimalOf(std::string_view text) { return *json::Decimal::Parse(text); }

TEST(ArithmeticFunctionsTest, Calls) {
  CheckTexts({
      {"add", "[1, 2]", "3"},
      {"add", "[1, 2, 3.5]", "6.5"},
      {"add", "[9223372036854775807, 1]", "9223372036854776000"},
      {"add", "[9007199254740993, 2]", "9007199254740995"},
      {"add", "[1, \"a\"]", "null"},
      {"sub", "[5, 7]", "-2"},
      {"sub", "[-9223372036854775808, 1]", "-9223372036854776000"},
      {"mult", "[3, 4, 5]", "60"},
      {"mult", "[9223372036854775807, 2]", "18446744073709552000"},
      {"mult", "[3, 0.5]", "1.5"},
      {"neg", "[5]", "-5"},
      {"neg", "[-9223372036854775808]", "9223372036854776000"},
      {"neg", "[\"a\"]", "null"},
      {"divide", "[5, 2]", "2.5"},
      {"divide", "[4, 2]", "2"},
      {"div", "[5, 2]", "2.5"},
      {"idiv", "[-7, 2]", "-3"},
      {"idiv", "[7.9, 2.9]", "3"},
      {"idiv", "[-9223372036854775808, -1]", "9223372036854776000"},
      {"idiv", "[1e300, 2]", "null"},
      {"mod", "[7, 3]", "1"},
      {"mod", "[-7, 3]", "-1"},
      {"mod", "[7.5, 2]", "1.5"},
      {"mod", "[7, 0]", "null"},
      {"mod", "[-9223372036854775808, -1]", "0"},
      {"imod", "[7.9, 2.9]", "1"},
      {"imod", "[7, 0]", "null"},
      {"imod", "[-9223372036854775808, -1]", "0"},
      {"power", "[2, 10]", "1024"},
      {"power", "[2, -1]", "0.5"},
  });
}

TEST(ArithmeticFunctionsTest, Unknowns) {
  for (const char* name : {"add", "sub", "mult", "divide", "div", "idiv", "mod", "imod", "power"}) {
    CheckUnknowns(name, {6, 2}, {"6", Value::EmptyArray()});
  }
  CheckUnknowns("neg", {6}, {true});
}

TEST(ArithmeticFunctionsTest, DividingByZeroWarns) {
  for (const char* name : {"divide", "div", "idiv"}) {
    TestContext context;
    EXPECT_TRUE(Call(context, name, {1, 0}).is_null());
    EXPECT_EQ(context.warnings,
              (std::vector<Warning>{{QueryCode::kDivideByZero, "Division by 0."}}));
  }
  TestContext context;
  EXPECT_TRUE(Call(context, "mod", {1, 0.0}).is_null());
  EXPECT_TRUE(context.warnings.empty());
}

TEST(ArithmeticFunctionsTest, KindsOfNumbers) {
  EXPECT_TRUE(Add(1, 2).is_int());
  EXPECT_TRUE(Add(std::numeric_limits<int64_t>::max(), 1).is_double());
  EXPECT_TRUE(Add(1, 2.0).is_double());
  EXPECT_EQ(ShowValue(Add(DecimalOf("0.10"), DecimalOf("0.2"))), "0.30");
  EXPECT_EQ(ShowValue(Add(DecimalOf("1.5"), 2)), "3.5");
  EXPECT_EQ(ShowValue(Subtract(1, DecimalOf("1.25"))), "-0.25");
  EXPECT_EQ(ShowValue(Subtract(DecimalOf("1.25"), DecimalOf("1.25"))), "0.00");
  EXPECT_EQ(ShowValue(Multiply(DecimalOf("1.5"), DecimalOf("-0.2"))), "-0.30");
  EXPECT_EQ(ShowValue(Negate(DecimalOf("1.50"))), "-1.50");
  EXPECT_TRUE(Add(DecimalOf("1.5"), 0.5).is_double());
  // More digits than a decimal has.
  EXPECT_TRUE(Multiply(DecimalOf("1234567890123456789012345678901234"), 1234).is_double());
  EXPECT_TRUE(Add(DecimalOf("1e40"), DecimalOf("1e-40")).is_double());
}

TEST(ArithmeticFunctionsTest, WholeNumbers) {
  EXPECT_EQ(WholeNumber(Value(3)), 3);
  EXPECT_EQ(WholeNumber(Value(3.0)), 3);
  EXPECT_EQ(WholeNumber(DecimalOf("3.00")), 3);
  EXPECT_FALSE(WholeNumber(Value(3.5)).has_value());
  EXPECT_FALSE(WholeNumber(Value(1e19)).has_value());
  EXPECT_FALSE(WholeNumber(Value(std::nan(""))).has_value());
  EXPECT_FALSE(WholeNumber(Value("3")).has_value());
}

}  // namespace
}  // namespace sluice::query
