#include "json/compare.h"

#include <cmath>

#include <gtest/gtest.h>

#include "json/parse.h"
#include "json/print.h"
#include "json/random_value.h"

namespace sluice::json {
namespace {

Value P(std::string_view text) { return *Parse(text); }

int Sign(std::strong_ordering order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

TEST(Compare, TypesCollateAsSqlppSays) {
  const Value ascending[] = {
      Value(),
      P("null"),
      P("false"),
      P("true"),
      Value(std::nan("")),
      Value(-INFINITY),
      P("-1e308"),
      P("-1"),
      P("-0.5"),
      P("0"),
      P("5e-324"),
      P("9007199254740992"),
      P("9007199254740993"),
      P("9223372036854775807"),
      P("9223372036854775808"),
      Value(INFINITY),
      Value(Datetime{-1}),
      Value(Datetime{0}),
      Value(Interval{Interval::Kind::kYearMonth, 5}),
      Value(Interval{Interval::Kind::kDaySecond, -5}),
      P(R"("")"),
      P(R"("A")"),
      P(R"("a")"),
      P(R"("aa")"),
      P(R"("b")"),
      P("\"\u00e9\""),
      P("[]"),
      P("[null]"),
      P("[1]"),
      P("[1,1]"),
      P("[2]"),
      P("[[]]"),
      P("{}"),
      P(R"({"a":1})"),
      P(R"({"a":2})"),
      P(R"({"b":0})"),
      P(R"({"a":9,"b":1})"),
      P(R"({"b":1,"c":0})"),
      Value::Bytes(""),
      Value::Bytes("a"),
  };
  for (size_t i = 0; i < std::size(ascending); ++i) {
    for (size_t j = 0; j < std::size(ascending); ++j) {
      EXPECT_EQ(Sign(Compare(ascending[i], ascending[j])), i < j   ? -1
                                                           : i > j ? 1
                                                                   : 0)
          << ToText(ascending[i]) << " and " << ToText(ascending[j]);
    }
  }
}

TEST(Compare, NumbersByExactValue) {
  const auto decimal = [](const char* text) { return Value(*Decimal::Parse(text)); };
  EXPECT_EQ(P("1"), P("1.0"));
  EXPECT_EQ(P("-0"), P("0"));
  EXPECT_EQ(P("1.50"), decimal("1.5"));
  EXPECT_EQ(decimal("1e18"), P("1000000000000000000"));
  EXPECT_LT(Sign(Compare(P("9007199254740992.0"), P("9007199254740993"))), 0);
  EXPECT_GT(Sign(Compare(P("9223372036854775807"), P("9223372036854774784.0"))), 0);
  EXPECT_LT(Sign(Compare(P("9223372036854775807"), P("9223372036854775808"))), 0);
  EXPECT_LT(Sign(Compare(decimal("0.1"), P("0.1"))),
            0);  // the double is a little more than a tenth
  EXPECT_GT(Sign(Compare(P("0.1"), decimal("0.1"))), 0);
  EXPECT_EQ(decimal("0.5"), P("0.5"));
  EXPECT_LT(Sign(Compare(decimal("1e400"), Value(INFINITY))), 0);
  EXPECT_GT(Sign(Compare(decimal("1e400"), P("1e308"))), 0);
  EXPECT_GT(Sign(Compare(decimal("1e-400"), P("0"))), 0);
  EXPECT_LT(Sign(Compare(decimal("1e-400"), P("5e-324"))), 0);
  EXPECT_GT(Sign(Compare(decimal("-9"), Value(std::nan("")))), 0);
}

TEST(Compare, ObjectsIgnoreTheOrderOfFields) {
  EXPECT_EQ(P(R"({"a":1,"b":[2]})"), P(R"({"b":[2.0],"a":1})"));
  EXPECT_FALSE(P(R"({"a":1,"b":2})") == P(R"({"a":1,"c":2})"));
  EXPECT_EQ(P(R"({"a":1,"b":[2]})").Hash(), P(R"({"b":[2.0],"a":1})").Hash());
}

TEST(Compare, IsATotalOrderThatEqualityAndHashFollow) {
  Random random(7);
  for (int round = 0; round < 100'000; ++round) {
    const bool numbers = round % 2 == 0;
    const auto make = [&] { return numbers ? RandomNumber(random) : RandomValue(random, 2); };
    const Value a = make(), b = make(), c = make();
    const int ab = Sign(Compare(a, b));
    ASSERT_EQ(ab, -Sign(Compare(b, a))) << ToText(a) << " and " << ToText(b);
    ASSERT_EQ(ab == 0, a == b) << ToText(a) << " and " << ToText(b);
    if (ab == 0) {
      ASSERT_EQ(a.Hash(), b.Hash()) << ToText(a) << " and " << ToText(b);
    }
    if (ab <= 0 && Compare(b, c) <= 0) {
      ASSERT_LE(Sign(Compare(a, c)), std::min(ab, 0))
          << ToText(a) << ", " << ToText(b) << " and " << ToText(c);
    }
    ASSERT_EQ(a, Value(a));
  }
}

}  // namespace
}  // namespace sluice::json
