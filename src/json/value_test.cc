#include "json/value.h"

#include <thread>

#include <gtest/gtest.h>

#include "json/print.h"

namespace sluice::json {
namespace {

TEST(Value, HoldsEachType) {
  EXPECT_TRUE(Value().is_missing());
  EXPECT_TRUE(Value(nullptr).is_null());
  EXPECT_EQ(Value(true).AsBool(), true);
  EXPECT_EQ(Value(INT64_MIN).AsInt(), INT64_MIN);
  EXPECT_EQ(Value(uint32_t{4294967295}).AsInt(), 4294967295);
  EXPECT_EQ(Value(2.5).AsDouble(), 2.5);
  EXPECT_EQ(Value(2.5).literal(), "");
  EXPECT_EQ(Value("").AsString(), "");
  EXPECT_EQ(Value("exactly15 bytes").AsString(), "exactly15 bytes");
  EXPECT_EQ(Value("exactly 16 bytes").AsString(), "exactly 16 bytes");
  EXPECT_EQ(Value::Bytes(std::string_view("\0\xff", 2)).AsBytes(), std::string_view("\0\xff", 2));
  EXPECT_EQ(Value(Datetime{-5}).AsDatetime().us, -5);
  const Interval interval{Interval::Kind::kYearMonth, 14};
  EXPECT_EQ(Value(interval).AsInterval(), interval);
  EXPECT_EQ(Value(*Decimal::Parse("1.50")).AsDecimal().ToString(), "1.50");
  EXPECT_EQ(TypeName(Value(1).type()), "number");
  EXPECT_EQ(TypeName(Value::Bytes("").type()), "binary");
}

TEST(Value, UnsignedIsExactInPrint) {
  EXPECT_TRUE(Value::Unsigned(INT64_MAX).is_int());
  EXPECT_EQ(ToText(Value::Unsigned(UINT64_MAX)), "18446744073709551615");
  EXPECT_EQ(Value::Unsigned(UINT64_MAX).AsDouble(), 18446744073709551616.0);
}

TEST(Value, LiteralsOfAnyLength) {
  EXPECT_EQ(Value::DoubleWithLiteral(1, "1.0").literal(), "1.0");
  EXPECT_EQ(Value::DoubleWithLiteral(1, "1.00000").literal(), "1.00000");
  const Value longer = Value::DoubleWithLiteral(1, "1.000000");
  EXPECT_EQ(longer.literal(), "1.000000");
  EXPECT_EQ(longer.AsDouble(), 1);
  EXPECT_TRUE(longer.is_double());
}

TEST(Value, ObjectsKeepInsertionOrderAndLastValueWins) {
  Value object = Value::Object({{"b", 1}, {"a", 2}, {"b", 3}});
  EXPECT_EQ(ToText(object), R"({"b":3,"a":2})");
  EXPECT_TRUE(object.Remove("b"));
  EXPECT_FALSE(object.Remove("b"));
  object.Set("b", 4);
  EXPECT_EQ(ToText(object), R"({"a":2,"b":4})");
  object.Set("a", Value());
  EXPECT_EQ(ToText(object), R"({"b":4})");
  EXPECT_EQ(object["b"].AsInt(), 4);
  EXPECT_TRUE(object["nothing"].is_missing());
  EXPECT_EQ(object.Find("nothing"), nullptr);
}

TEST(Value, LargeObjectsFindEveryField) {
  Value object = Value::EmptyObject();
  const auto name = [](int i) { return "a field with a long name " + std::to_string(i); };
  for (int i = 0; i < 1000; ++i) object.Set(name(i), i);
  for (int i = 0; i < 1000; i += 3) EXPECT_TRUE(object.Remove(name(i)));
  for (int i = 0; i < 1000; i += 2) object.Set(name(i), -i);
  for (int i = 0; i < 1000; ++i) {
    const Value* found = object.Find(name(i));
    if (i % 2 == 1 && i % 3 == 0) {
      EXPECT_EQ(found, nullptr) << i;
    } else {
      ASSERT_NE(found, nullptr) << i;
      EXPECT_EQ(found->AsInt(), i % 2 == 0 ? -i : i);
    }
  }
  EXPECT_EQ(object.Find("x"), nullptr);
}

TEST(Value, ObjectsShrinkBackToLinearSearch) {
  Value object = Value::EmptyObject();
  for (int i = 0; i < 40; ++i) object.Set(std::to_string(i), i);
  for (int i = 0; i < 38; ++i) EXPECT_TRUE(object.Remove(std::to_string(i)));
  EXPECT_EQ(ToText(object), R"({"38":38,"39":39})");
  EXPECT_EQ(object["39"].AsInt(), 39);
}

TEST(Value, ArraysChangeInPlace) {
  Value array = Value::Array({1, 2});
  array.Append("three");
  array.Insert(0, nullptr);
  array.RemoveAt(1);
  *array.MutableItem(1) = Value::Array({2.5});
  EXPECT_EQ(ToText(array), R"([null,[2.5],"three"])");
  EXPECT_EQ(array[1][0].AsDouble(), 2.5);
  EXPECT_TRUE(array[3].is_missing());
  EXPECT_TRUE(Value("text")[0].is_missing());
}

TEST(Value, CopiesDoNotSeeEachOthersChanges) {
  Value a = Value::Object({{"list", Value::Array({1, 2})}, {"n", 1}});
  Value b = a;
  b.MutableField("list")->Append(3);
  b.Set("n", 2);
  EXPECT_EQ(ToText(a), R"({"list":[1,2],"n":1})");
  EXPECT_EQ(ToText(b), R"({"list":[1,2,3],"n":2})");
  a = a["list"];  // out of itself
  EXPECT_EQ(ToText(a), "[1,2]");
}

TEST(Value, DeepNestingIsFreedWithoutRecursion) {
  Value deep = Value::EmptyArray();
  for (int i = 0; i < 1'000'000; ++i) {
    Value outer = Value::EmptyArray();
    outer.Append(std::move(deep));
    deep = std::move(outer);
  }
  const Value shared = deep[0];
  deep = Value();
  EXPECT_EQ(shared.size(), 1u);
}

TEST(Value, CopiesAreCountedAcrossThreads) {
  const Value shared = Value::Object({{"text", "a string too long to be kept inside"}});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([copy = shared]() mutable {
      for (int i = 0; i < 1000; ++i) {
        Value mine = copy;
        mine.Set("i", i);
        EXPECT_EQ(mine["text"].AsString(), "a string too long to be kept inside");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared.size(), 1u);
}

}  // namespace
}  // namespace sluice::json
