#include "query/functions/aggregate.h"

#include <cmath>
#include <limits>

#include "json/decimal.h"
#include "query/functions/test_context.h"
#include "query/result_text.h"

namespace sluice::query {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Group {
  std::string_view name;
  std::string_view values;  // a JSON array, in which "MISSING" stands for MISSING
  std::string_view expected;
};

std::vector<Value> ValuesOf(std::string_view text) {
  const Value list = FromText(text);
  std::vector<Value> values;
  for (const Value& value : list.items()) {
    values.push_back(value.is_string() && value.AsString() == "MISSING" ? Value() : value);
  }
  return values;
}

std::unique_ptr<Accumulator> Accumulate(std::string_view name, const std::vector<Value>& values) {
  auto accumulator = FindAggregate(name)->make();
  for (const Value& value : values) accumulator->Add(value);
  return accumulator;
}

std::string Finish(Accumulator& accumulator) {
  TestContext context;
  const Value result = accumulator.Finish(context);
  return result.is_missing() ? "MISSING" : ResultText(result);
}

constexpr Group kGroups[] = {
    {"count", R"([1, null, "MISSING", "a", false])", "3"},
    {"count", "[]", "0"},
    {"count_star", R"([1, null, "MISSING"])", "3"},
    {"countn", R"([1, 2.5, null, "MISSING", "a"])", "2"},
    {"sum", R"([1, 2, null, "MISSING", "a"])", "3"},
    {"sum", "[1, 2.5]", "3.5"},
    {"sum", "[]", "null"},
    {"sum", R"(["a", null])", "null"},
    {"sum", "[9223372036854775807, 1, -1]", "9223372036854775807"},
    {"sum", "[9223372036854775807, 1]", "9223372036854776000"},
    {"sum", "[1e100, 1, -1e100]", "1"},
    {"sum", "[0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]", "1"},
    {"avg", R"([1, 2, null, "a"])", "1.5"},
    {"avg", "[2, 4]", "3"},
    {"avg", "[null]", "null"},
    {"mean", "[1, 2]", "1.5"},
    {"min", R"([3, null, "MISSING", "a", 2])", "2"},
    {"max", R"([3, null, "MISSING", "a", 2])", "\"a\""},
    {"min", "[null]", "null"},
    {"max", R"(["MISSING"])", "null"},
    {"array_agg", R"(["b", null, "MISSING", 2, "a", 1, null])", R"([null,null,1,2,"a","b"])"},
    {"array_agg", R"(["MISSING"])", "null"},
    {"median", R"([3, 1, 2, null, "a"])", "2"},
    {"median", "[4, 1, 2, 3]", "2.5"},
    {"median", "[4, 2]", "3"},
    {"median", "[]", "null"},
    {"variance", R"([1, 2, 3, 4, null, "a"])", "1.6666666666666667"},
    {"variance", "[5]", "0"},
    {"variance", "[]", "null"},
    {"var_samp", "[5]", "null"},
    {"variance_samp", "[1, 3]", "2"},
    {"var_pop", "[1, 3]", "1"},
    {"variance_pop", "[5]", "0"},
    {"variance", "[1000000000000001, 1000000000000003]", "2"},
    {"stddev", "[5]", "0"},
    {"stddev", "[2, 4, 4, 4, 5, 5, 7, 9, 14]", "3.605551275463989"},
    {"stddev_samp", "[5]", "null"},
    {"stddev_pop", "[2, 4, 4, 4, 5, 5, 7, 9]", "2"},
    {"stddev_pop", R"(["a"])", "null"},
};

TEST(AggregateTest, Groups) {
  for (const Group& group : kGroups) {
    EXPECT_EQ(Finish(*Accumulate(group.name, ValuesOf(group.values))), group.expected)
        << group.name << group.values;
  }
}

// However the rows are divided, merging gives what one accumulator gives, up to rounding.
TEST(AggregateTest, Merge) {
  for (const Group& group : kGroups) {
    const std::vector<Value> values = ValuesOf(group.values);
    for (size_t cut = 0; cut <= values.size(); ++cut) {
      const auto at = values.begin() + static_cast<ptrdiff_t>(cut);
      const auto first = Accumulate(group.name, {values.begin(), at});
      const auto second = Accumulate(group.name, {at, values.end()});
      first->Merge(*second);
      const Value merged = FromText(Finish(*first));
      const Value expected = FromText(group.expected);
      if (merged.is_double() && expected.is_number()) {
        EXPECT_DOUBLE_EQ(merged.AsDouble(), expected.ToDouble()) << group.name << " at " << cut;
      } else {
        EXPECT_EQ(merged, expected) << group.name << group.values << " at " << cut;
      }
    }
  }
}

TEST(AggregateTest, Remove) {
  const std::vector<Value> noise = {7, -2.25, std::nan(""), kInfinity, nullptr, Value(), "x"};
  for (const Group& group : kGroups) {
    if (!FindAggregate(group.name)->removable) continue;
    const auto accumulator = Accumulate(group.name, noise);
    for (const Value& value : ValuesOf(group.values)) accumulator->Add(value);
    for (const Value& value : noise) accumulator->Remove(value);
    EXPECT_EQ(Finish(*accumulator), group.expected) << group.name << group.values;
  }
}

TEST(AggregateTest, SpecialNumbers) {
  EXPECT_EQ(Finish(*Accumulate("sum", {1, kInfinity})), "\"+Infinity\"");
  EXPECT_EQ(Finish(*Accumulate("sum", {-kInfinity, 2.5})), "\"-Infinity\"");
  EXPECT_EQ(Finish(*Accumulate("sum", {-kInfinity, kInfinity})), "\"NaN\"");
  EXPECT_EQ(Finish(*Accumulate("avg", {1, std::nan("")})), "\"NaN\"");
  const Value tenth = *json::Decimal::Parse("0.10");
  EXPECT_EQ(Finish(*Accumulate("sum", {tenth, tenth, 1})), "1.20");
  EXPECT_EQ(Finish(*Accumulate("sum", {tenth, 0.5})), "0.6");
}

TEST(AggregateTest, MemoryIsCountedAndBounded) {
  const std::string text(1000, 'x');
  const auto accumulator = Accumulate("array_agg", {Value(text), Value(text)});
  EXPECT_GT(accumulator->bytes(), 2000u);
  EXPECT_LT(accumulator->bytes(), 3000u);
  EXPECT_EQ(Accumulate("sum", {1, 2})->bytes(), 0u);
  TestContext context;
  context.limit_bytes = 8;
  EXPECT_TRUE(accumulator->Finish(context).is_null());
  EXPECT_FALSE(context.failure.ok());
}

TEST(AggregateTest, Names) {
  EXPECT_EQ(FindAggregate("lower"), nullptr);
  EXPECT_EQ(FindAggregate("count")->name, "count");
  EXPECT_TRUE(IsWindowFunction("row_number"));
  EXPECT_TRUE(IsWindowFunction("lead"));
  EXPECT_FALSE(IsWindowFunction("sum"));
}

}  // namespace
}  // namespace sluice::query
