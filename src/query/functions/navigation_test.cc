#include "query/functions/navigation.h"

#include "query/functions/test_context.h"

namespace sluice::query {
namespace {

TEST(NavigationFunctionsTest, Calls) {
  CheckTexts({
      {"element", "[[1, 2, 3], 0]", "1"},
      {"element", "[[1, 2, 3], -1]", "3"},
      {"element", "[[1, 2, 3], 1.0]", "2"},
      {"element", "[[1, 2, 3], 3]", "MISSING"},
      {"element", "[[1, 2, 3], -4]", "MISSING"},
      {"element", "[[1, 2, 3], 0.5]", "null"},
      {"element", "[[1, 2, 3], \"0\"]", "null"},
      {"element", "[[1, 2, 3], \"MISSING\"]", "MISSING"},
      {"element", "[\"abc\", 0]", "MISSING"},
      {"element", "[null, 0]", "null"},
      {"element", "[\"MISSING\", 0]", "MISSING"},
      {"field", "[{\"a\": 1}, \"a\"]", "1"},
      {"field", "[{\"a\": 1}, \"b\"]", "MISSING"},
      {"field", "[[1], \"a\"]", "MISSING"},
      {"field", "[null, \"a\"]", "null"},
      {"field", "[{\"a\": 1}, 5]", "null"},
      {"field", "[{\"a\": 1}, \"MISSING\"]", "MISSING"},
      {"slice", "[[1, 2, 3], 1]", "[2,3]"},
      {"slice", "[[1, 2, 3], 0, 2]", "[1,2]"},
      {"slice", "[[1, 2, 3], -2]", "[2,3]"},
      {"slice", "[[1, 2, 3], 0, -1]", "[1,2]"},
      {"slice", "[[1, 2, 3], 1, 1]", "[]"},
      {"slice", "[[1, 2, 3], 2, 1]", "MISSING"},
      {"slice", "[[1, 2, 3], 3]", "MISSING"},
      {"slice", "[[1, 2, 3], 0, 4]", "MISSING"},
      {"slice", "[[1, 2, 3], -4]", "MISSING"},
      {"slice", "[[1, 2, 3]]", "[1,2,3]"},
      {"slice", "[[1, 2, 3], 0.5]", "null"},
      {"slice", "[[1, 2, 3], null]", "null"},
      {"slice", "[[1, 2, 3], 0, \"MISSING\"]", "MISSING"},
      {"slice", "[\"abc\", 0]", "null"},
      {"array_star", "[[{\"a\": 1, \"b\": 2}, {\"a\": 3}, 5]]",
       "{\"a\":[1,3,null],\"b\":[2,null,null]}"},
      {"array_star", "[[]]", "{}"},
      {"array_star", "[{}]", "null"},
      {"array_star", "[\"MISSING\"]", "MISSING"},
  });
  const Value list = FromText("[1, 2, 3]");
  const Value two = 2;
  EXPECT_EQ(ShowValue(SliceOf(list, nullptr, &two)), "[1,2]");
}

TEST(NavigationFunctionsTest, RandomElement) {
  TestContext context;
  context.random = 4;
  EXPECT_EQ(Call(context, "random_element", {FromText("[7, 8, 9]")}), Value(9));
  EXPECT_TRUE(Call(context, "random_element", {Value::EmptyArray()}).is_null());
  CheckUnknowns("random_element", {FromText("[1]")}, {5});
}

TEST(NavigationFunctionsTest, ArrayStarIsBounded) {
  TestContext context;
  context.limit_bytes = 100;
  EXPECT_TRUE(ArrayStarOf(context, FromText("[{\"a\":1},{\"b\":1},{\"c\":1}]")).is_null());
  EXPECT_EQ(CodeOf(context.failure), QueryCode::kMemoryQuota);
}

}  // namespace
}  // namespace sluice::query
