#include "json/print.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "json/number.h"
#include "json/parse.h"

namespace sluice::json {
namespace {

TEST(Print, DoublesAsJavaScriptDoes) {
  const std::pair<double, std::string_view> cases[] = {
      {0.0, "0"},
      {-0.0, "0"},
      {1.0, "1"},
      {-1.5, "-1.5"},
      {0.1, "0.1"},
      {0.000001, "0.000001"},
      {1e-7, "1e-7"},
      {1.5e-7, "1.5e-7"},
      {1e20, "100000000000000000000"},
      {1e21, "1e+21"},
      {1.25e21, "1.25e+21"},
      {123456789.125, "123456789.125"},
      {5e-324, "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {9007199254740993.0, "9007199254740992"},
  };
  for (const auto& [value, text] : cases) EXPECT_EQ(ToText(Value(value)), text);
  EXPECT_EQ(ToText(Value(std::nan(""))), "null");
  EXPECT_EQ(ToText(Value(-std::numeric_limits<double>::infinity())), "null");
}

TEST(Print, EscapesOnlyWhatMustBe) {
  EXPECT_EQ(ToText(Value(std::string_view("a\"b\\c/\b\f\n\r\t\x01\x1f\0\x7f\u20ac", 18))),
            "\"a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0001\\u001f\\u0000\x7f\u20ac\"");
}

TEST(Print, CompactPrettyAndSorted) {
  const Value value =
      Value::Object({{"b", Value::Array({1, Value::EmptyObject(), Value::EmptyArray()})},
                     {"a", Value::Object({{"z", nullptr}, {"y", true}})}});
  EXPECT_EQ(ToText(value), R"({"b":[1,{},[]],"a":{"z":null,"y":true}})");
  EXPECT_EQ(ToText(value, {.order = PrintOptions::Order::kSorted}),
            R"({"a":{"y":true,"z":null},"b":[1,{},[]]})");
  EXPECT_EQ(ToText(value, {.indent = 2}),
            "{\n  \"b\": [\n    1,\n    {},\n    []\n  ],\n  \"a\": {\n    \"z\": null,\n"
            "    \"y\": true\n  }\n}");
}

TEST(Print, TypesThatJsonLacks) {
  const Value value =
      Value::Array({Value(), Value::Bytes("ab"), Datetime{1'700'000'000'123'000},
                    Interval{Interval::Kind::kYearMonth, 27}, *Decimal::Parse("12.50")});
  EXPECT_EQ(ToText(value), R"([null,"YWI=","2023-11-14T22:13:20.123Z","2-03",12.50])");
}

}  // namespace
}  // namespace sluice::json
