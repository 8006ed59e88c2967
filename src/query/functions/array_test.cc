#include <cmath>

#include "query/functions/test_context.h"

namespace sluice::query {
namespace {

TEST(ArrayFunctionsTest, Making) {
  CheckTexts({
      {"array", "[]", "[]"},
      {"array", "[1, null, \"MISSING\"]", "[1,null,null]"},
      {"array_append", "[[1], 2, null]", "[1,2,null]"},
      {"array_append", "[[1], \"MISSING\"]", "MISSING"},
      {"array_append", "[5, 2]", "null"},
      {"array_prepend", "[1, null, [2]]", "[1,null,2]"},
      {"array_prepend", "[\"MISSING\", [2]]", "MISSING"},
      {"array_prepend", "[1, 2]", "null"},
      {"array_put", "[[1, 2], 2, 3, 3]", "[1,2,3,3]"},
      {"array_add", "[[1], 2]", "[1,2]"},
      {"array_upsert", "[[1], 1.0]", "[1]"},
      {"array_put", "[[1], null]", "null"},
      {"array_put", "[1, 2]", "null"},
      {"array_concat", "[[1], [2, 3], []]", "[1,2,3]"},
      {"array_concat", "[[1], 2]", "null"},
      {"array_concat", "[[1], null]", "null"},
      {"array_concat", "[[1], null, \"MISSING\"]", "MISSING"},
      {"array_insert", "[[1, 2], 1, 8, 9]", "[1,8,9,2]"},
      {"array_insert", "[[1, 2], 2, null]", "[1,2,null]"},
      {"array_insert", "[[1, 2], -1, 9]", "[1,9,2]"},
      {"array_insert", "[[1, 2], 3, 9]", "null"},
      {"array_insert", "[[1, 2], 0.5, 9]", "null"},
      {"array_insert", "[[1, 2], 0, \"MISSING\"]", "MISSING"},
      {"array_insert", "[5, 0, 1]", "null"},
      {"array_remove", "[[1, 2, 1, 3], 1, 3]", "[2]"},
      {"array_remove", "[[1, null], 1]", "[null]"},
      {"array_remove", "[[1], null]", "null"},
      {"array_remove", "[5, 1]", "null"},
      {"array_replace", "[[1, 2, 1], 1, 9]", "[9,2,9]"},
      {"array_replace", "[[1, 2, 1], 1, null, 1]", "[null,2,1]"},
      {"array_replace", "[[1, null], null, 9]", "null"},
      {"array_replace", "[[1], 1, 2, \"a\"]", "null"},
      {"array_replace", "[[1], 1, \"MISSING\"]", "MISSING"},
      {"array_replace", "[{}, 1, 2]", "null"},
      {"array_replace_equivalent", "[[1, null], null, 9]", "[1,9]"},
      {"array_replace_equivalent", "[5, null, 9]", "null"},
      {"array_replace_equivalent", "[[1], \"MISSING\", 9]", "MISSING"},
      {"array_reverse", "[[1, 2, 3]]", "[3,2,1]"},
      {"array_sort", "[[\"b\", 2, null, true, {}, [], 1]]", "[null,true,1,2,\"b\",[],{}]"},
      {"array_swap", "[[1, 2, 3], 0, -1]", "[3,2,1]"},
      {"array_swap", "[[1, 2, 3], 0, 3]", "null"},
      {"array_swap", "[[], 0, 0]", "null"},
      {"array_move", "[[1, 2, 3, 4], 0, 2]", "[2,3,1,4]"},
      {"array_move", "[[1, 2, 3, 4], -1, 0]", "[4,1,2,3]"},
      {"array_move", "[[1, 2, 3, 4], 1, 1]", "[1,2,3,4]"},
      {"array_move", "[[1], 1, 0]", "null"},
      {"array_flatten", "[[1, [2, [3, [4]]]], 1]", "[1,2,[3,[4]]]"},
      {"array_flatten", "[[1, [2, [3, [4]]]], -1]", "[1,2,3,4]"},
      {"array_flatten", "[[1, [2, [3]]], 1000000]", "[1,2,3]"},
      {"array_flatten", "[[1, [2]], 0]", "[1,[2]]"},
      {"array_flatten", "[[1], 0.5]", "null"},
      {"array_flatten", "[5, 1]", "null"},
      {"array_repeat", "[null, 2]", "[null,null]"},
      {"array_repeat", "[1, 0]", "[]"},
      {"array_repeat", "[1, -1]", "null"},
      {"array_repeat", "[1, \"a\"]", "null"},
      {"array_repeat", "[\"MISSING\", 1]", "MISSING"},
  });
}

TEST(ArrayFunctionsTest, Range) {
  CheckTexts({
      {"array_range", "[0, 3]", "[0,1,2]"},
      {"array_range", "[3, 0]", "[]"},
      {"array_range", "[3, 0, -2]", "[3,1]"},
      {"array_range", "[0, 1, 0.25]", "[0,0.25,0.5,0.75]"},
      {"array_range", "[0, 5, 0]", "[]"},
      {"array_range", "[1, 1]", "[]"},
      {"array_range", "[9223372036854775805, 9223372036854775807]",
       "[9223372036854775805,9223372036854775806]"},
      {"array_range", "[0, \"3\"]", "null"},
  });
  CheckUnknowns("array_range", {0, 3, 1}, {"0", "3", true});
}

TEST(ArrayFunctionsTest, SizesAreBounded) {
  const auto failure = [](std::string_view name, const std::vector<Value>& args) {
    TestContext context;
    EXPECT_TRUE(Call(context, name, args).is_null());
    return CodeOf(context.failure);
  };
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(failure("array_range", {0, 1e9}), QueryCode::kRange);
  EXPECT_EQ(failure("array_range", {0, infinity}), QueryCode::kRange);
  EXPECT_EQ(failure("array_range", {0, 1'000'000}), QueryCode::kMemoryQuota);
  EXPECT_EQ(failure("array_repeat", {1, 1e9}), QueryCode::kRange);
  EXPECT_EQ(failure("array_repeat", {1, 1'000'000}), QueryCode::kMemoryQuota);
  EXPECT_EQ(failure("array_repeat", {Value::Array(std::vector<Value>(1000, 1)), 1000}),
            QueryCode::kMemoryQuota);
  // A thousand times a thousand times a thousand elements in a few kilobytes.
  const Value inner = Value::Array(std::vector<Value>(1000, 1));
  const Value middle = Value::Array(std::vector<Value>(1000, inner));
  const Value outer = Value::Array(std::vector<Value>(1000, middle));
  EXPECT_EQ(failure("array_flatten", {outer, -1}), QueryCode::kMemoryQuota);
  EXPECT_EQ(failure("array_union", {Value::Array(std::vector<Value>(100'000, 1)), inner}),
            QueryCode::kMemoryQuota);
}

TEST(ArrayFunctionsTest, Facts) {
  CheckTexts({
      {"array_avg", "[[1, 2, null, \"a\"]]", "1.5"},
      {"array_avg", "[[]]", "null"},
      {"array_count", "[[1, null, \"a\"]]", "2"},
      {"array_length", "[[1, null]]", "2"},
      {"array_max", "[[1, \"a\", null]]", "\"a\""},
      {"array_max", "[[]]", "null"},
      {"array_min", "[[3, 2, null]]", "2"},
      {"array_sum", "[[1, 2, \"a\"]]", "3"},
      {"array_sum", "[[]]", "0"},
      {"array_ifnull", "[[null, 3]]", "3"},
      {"array_ifnull", "[[null]]", "null"},
      {"array_contains", "[[1, 2], 2]", "true"},
      {"array_contains", "[[1, null], 2]", "false"},
      {"array_contains_all", "[[1, 2, 3], [1, 3]]", "true"},
      {"array_contains_all", "[[1, 2], [1, 3]]", "false"},
      {"array_contains_all", "[[1, 2], 2]", "true"},
      {"array_contains_all", "[[1, 2], []]", "true"},
      {"array_contains_any", "[[1, 2], [5, 2]]", "true"},
      {"array_contains_any", "[[1, null], [5, null]]", "false"},
      {"array_contains_any", "[[1, 2], 2]", "true"},
      {"array_position", "[[5, 6, 6], 6]", "1"},
      {"array_pos", "[[5], 7]", "-1"},
      {"array_binary_search", "[[1, 3, 3, 5], 3]", "1"},
      {"array_binary_search", "[[1, 3], 2]", "-1"},
      {"array_binary_search", "[[null, 3], null]", "0"},
      {"array_binary_search", "[[], 2]", "-1"},
      {"array_binary_search", "[5, 2]", "null"},
      {"array_binary_search", "[[1], \"MISSING\"]", "MISSING"},
  });
  for (const char* name :
       {"array_contains", "array_contains_all", "array_contains_any", "array_position"}) {
    CheckTexts({{name, "[[1], null]", "null"},
                {name, "[[1], \"MISSING\"]", "MISSING"},
                {name, "[null, 1]", "null"},
                {name, "[\"a\", 1]", "null"}});
  }
  for (const char* name :
       {"array_avg", "array_count", "array_length", "array_max", "array_min", "array_sum",
        "array_ifnull", "array_distinct", "array_reverse", "array_sort"}) {
    CheckUnknowns(name, {FromText("[1]")}, {"a"});
  }
}

TEST(ArrayFunctionsTest, Sets) {
  CheckTexts({
      {"array_distinct", "[[2, 1, 2.0, null, null, \"a\"]]", "[2,1,null,\"a\"]"},
      {"array_union", "[[1, 2], [2, 3], [3, 4]]", "[1,2,3,4]"},
      {"array_intersect", "[[3, 1, 2, 2], [2, 3], [3, 2, 5]]", "[3,2]"},
      {"array_intersect", "[[1, 1], [2]]", "[]"},
      {"array_symdiff", "[[1, 1, 2], [2, 3], [2, 4]]", "[1,3,4]"},
      {"array_symdiff1", "[[1], [1]]", "[]"},
      {"array_symdiffn", "[[1, 2], [2, 3], [2, 4]]", "[1,2,3,4]"},
      {"array_except", "[[1, 2, 1, null], [2, null]]", "[1,1]"},
      {"array_except", "[[1], []]", "[1]"},
  });
  const Value list = FromText("[1]");
  for (const char* name :
       {"array_union", "array_intersect", "array_symdiff", "array_symdiffn", "array_except"}) {
    CheckUnknowns(name, {list, list}, {1, "a"});
  }
  for (const char* name : {"array_swap", "array_move"}) {
    CheckUnknowns(name, {list, 0, 0}, {1, "a", true});
  }
}

}  // namespace
}  // namespace sluice::query
