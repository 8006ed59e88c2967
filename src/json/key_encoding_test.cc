#include "json/key_encoding.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "json/compare.h"
#include "json/parse.h"
#include "json/print.h"
#include "json/random_value.h"

namespace sluice::json {
namespace {

std::string Key(const Value& value, Direction direction = Direction::kAscending) {
  std::string key;
  EXPECT_TRUE(AppendKeyPart(value, direction, &key).ok());
  return key;
}

int Sign(std::strong_ordering order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

TEST(KeyEncoding, GoldenBytes) {
  const auto parsed = [](std::string_view text) { return *Parse(text); };
  const std::pair<Value, std::string_view> cases[] = {
      {Value(), "10"},
      {nullptr, "18"},
      {false, "20"},
      {true, "21"},
      {0, "28800000000000000000"},
      {-0.0, "28800000000000000000"},
      {1, "28bff000000000000000"},
      {-1, "28400fffffffffffff00"},
      {1.5, "28bff800000000000000"},
      {std::nan(""), "28000000000000000000"},
      {-INFINITY, "28000fffffffffffff00"},
      {9007199254740993,
       "28c340000000000000018010"
       "5b08145d374b0a5e"
       "00"},
      {-9007199254740993,
       "283cbffffffffffffe017fef"
       "a4f7eba2c8b4f5a1"
       "ff"},
      {*Decimal::Parse("0.1"),
       "28bfb9999999999999018000"
       "0b00"},
      {Datetime{1}, "308000000000000001"},
      {Interval{Interval::Kind::kDaySecond, -1}, "38017fffffffffffffff"},
      {"a", "40610001"},
      {std::string_view("a\0b", 3), "406100ff620001"},
      {parsed(R"(["a",[],null])"), "504061000150011801"},
      {parsed(R"({"b":true,"a":null})"),
       "600000000261000118"
       "62000121"},
      {Value::Bytes("\xff"), "70ff0001"},
  };
  for (const auto& [value, hex] : cases) {
    EXPECT_EQ(ToHex(Key(value)), hex) << ToText(value);
  }
  EXPECT_EQ(ToHex(Key("a", Direction::kDescending)), "bf9efffe");
}

TEST(KeyEncoding, OrdersAsCompareAndReadsBack) {
  Random random(3);
  for (int round = 0; round < 200'000; ++round) {
    const auto make = [&] {
      return round % 2 == 0 ? RandomNumber(random) : RandomValue(random, 3);
    };
    const Value a = make(), b = make();
    const int order = Sign(Compare(a, b));
    ASSERT_EQ(Sign(Key(a).compare(Key(b)) <=> 0), order) << ToText(a) << " and " << ToText(b);
    const auto down = Direction::kDescending;
    ASSERT_EQ(Sign(Key(a, down).compare(Key(b, down)) <=> 0), -order);
    for (const Direction direction : {Direction::kAscending, down}) {
      const std::string key = Key(a, direction) + Key(b, direction) + "rest";
      std::string_view rest = key;
      const auto first = TakeKeyPart(&rest, direction);
      ASSERT_TRUE(first) << ToText(a);
      ASSERT_EQ(*first, a) << ToText(*first) << " for " << ToText(a);
      ASSERT_EQ(*TakeKeyPart(&rest, direction), b);
      ASSERT_EQ(rest, "rest");
    }
  }
}

TEST(KeyEncoding, NoPartIsAPrefixOfAnother) {
  Random random(4);
  for (int round = 0; round < 50'000; ++round) {
    const std::string a = Key(RandomValue(random, 2)), b = Key(RandomValue(random, 2));
    if (a != b) {
      ASSERT_FALSE(a.starts_with(b)) << ToHex(a) << " " << ToHex(b);
    }
  }
}

TEST(KeyEncoding, IntegersComeBackAsIntegers) {
  for (const int64_t value : {int64_t{0}, int64_t{-7}, INT64_MAX, INT64_MIN, INT64_MIN + 1,
                              (int64_t{1} << 53) + 1, -(int64_t{1} << 62) - 10}) {
    const std::string key = Key(value);
    std::string_view rest = key;
    const auto back = TakeKeyPart(&rest, Direction::kAscending);
    ASSERT_TRUE(back && back->is_int()) << value;
    EXPECT_EQ(back->AsInt(), value);
  }
}

TEST(KeyEncoding, TruncatedAndForeignBytesAreCorrupt) {
  const std::string key = Key(*Parse(R"({"a":[1,"x",9007199254740993],"b":{}})"));
  for (size_t size = 0; size < key.size(); ++size) {
    std::string_view cut = std::string_view(key).substr(0, size);
    const auto value = TakeKeyPart(&cut, Direction::kAscending);
    ASSERT_FALSE(value) << size;
    EXPECT_EQ(value.error().id(), "key.corrupt");
    EXPECT_EQ(value.error().code(), Code::kCorruption);
  }
  std::string_view foreign = "\x99";
  EXPECT_FALSE(TakeKeyPart(&foreign, Direction::kAscending));
}

TEST(KeyEncoding, DepthIsLimited) {
  Value deep(1);
  for (int i = 0; i < kMaxDepth; ++i) deep = Value::Array({deep});
  std::string key = "before";
  EXPECT_TRUE(AppendKeyPart(deep, Direction::kAscending, &key).ok());
  key = "before";
  EXPECT_EQ(AppendKeyPart(Value::Array({deep}), Direction::kAscending, &key).id(), "key.too_deep");
  EXPECT_EQ(key, "before");
  const std::string opened(kMaxDepth + 1, '\x50');
  std::string_view rest = opened;
  EXPECT_FALSE(TakeKeyPart(&rest, Direction::kAscending));
}

}  // namespace
}  // namespace sluice::json
