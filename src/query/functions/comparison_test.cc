#include "query/functions/comparison.h"

#include <cmath>
#include <limits>

#include "json/compare.h"
#include "query/functions/test_context.h"

namespace sluice::query {
namespace {

TEST(ComparisonFunctionsTest, Equal) {
  CheckTexts({
      {"eq", "[1, 1.0]", "true"},
      {"eq", "[1, 2]", "false"},
      {"eq", "[1, \"1\"]", "false"},
      {"eq", "[\"a\", \"a\"]", "true"},
      {"eq", "[true, true]", "true"},
      {"eq", "[null, null]", "null"},
      {"eq", "[\"MISSING\", null]", "MISSING"},
      {"eq", "[[1, 2], [1, 2]]", "true"},
      {"eq", "[[1, 2], [1]]", "false"},
      {"eq", "[[1, null], [1, null]]", "null"},
      {"eq", "[[1, null], [2, null]]", "false"},
      {"eq", "[[null, 1], [null, 2]]", "false"},
      {"eq", "[{\"a\": 1, \"b\": 2}, {\"b\": 2, \"a\": 1}]", "true"},
      {"eq", "[{\"a\": null, \"b\": 2}, {\"b\": 2, \"a\": 1}]", "null"},
      {"eq", "[{\"a\": null, \"b\": 2}, {\"b\": 3, \"a\": 1}]", "false"},
      {"eq", "[{\"a\": 1}, {\"b\": 1}]", "false"},
      {"eq", "[{\"a\": 1}, [1]]", "false"},
  });
  EXPECT_TRUE(CompareEq(Value::Array({1, Value(), nullptr}), Value::Array({1, 2, 3})).is_missing());
  EXPECT_EQ(ShowValue(CompareEq(std::nan(""), std::nan(""))), "false");
}

TEST(ComparisonFunctionsTest, Order) {
  CheckTexts({
      {"lt", "[1, 2]", "true"},
      {"lt", "[2, 2]", "false"},
      {"le", "[2, 2.0]", "true"},
      {"lt", "[\"a\", \"b\"]", "true"},
      {"le", "[\"b\", \"a\"]", "false"},
      {"lt", "[1, \"a\"]", "true"},
      {"lt", "[true, 0]", "true"},
      {"lt", "[[9], {}]", "true"},
      {"lt", "[[1, 2], [1, 3]]", "true"},
      {"lt", "[[1], [1, 3]]", "true"},
      {"lt", "[[1, null, 1], [1, 2, 3]]", "null"},
      {"lt", "[[1, null, 1], [2, 2, 3]]", "true"},
      {"lt", "[{\"z\": 1}, {\"a\": 1, \"b\": 1}]", "true"},
      {"lt", "[{\"a\": 1}, {\"b\": 0}]", "true"},
      {"lt", "[{\"a\": 1, \"b\": null}, {\"a\": 1, \"b\": 0}]", "null"},
      {"between", "[2, 1, 3]", "true"},
      {"between", "[1, 1, 3]", "true"},
      {"between", "[4, 1, 3]", "false"},
      {"between", "[4, null, 3]", "null"},
      {"between", "[2, null, 3]", "null"},
      {"between", "[2, \"MISSING\", 1]", "MISSING"},
  });
  for (const char* name : {"eq", "lt", "le"}) {
    CheckTexts({{name, "[\"MISSING\", 1]", "MISSING"},
                {name, "[1, \"MISSING\"]", "MISSING"},
                {name, "[null, 1]", "null"},
                {name, "[1, null]", "null"}});
  }
}

TEST(ComparisonFunctionsTest, Collections) {
  CheckTexts({
      {"in", "[2, [1, 2]]", "true"},
      {"in", "[3, [1, 2]]", "false"},
      {"in", "[3, [1, null]]", "null"},
      {"in", "[1, [1, null]]", "true"},
      {"in", "[null, [1]]", "null"},
      {"in", "[null, []]", "false"},
      {"in", "[\"MISSING\", [1]]", "MISSING"},
      {"in", "[1, \"MISSING\"]", "MISSING"},
      {"in", "[1, {\"a\": 1}]", "null"},
      {"in", "[[1], [[1], 2]]", "true"},
      {"within", "[3, [1, [2, {\"a\": 3}]]]", "true"},
      {"within", "[4, [1, [2, {\"a\": 3}]]]", "false"},
      {"within", "[[2], {\"x\": [[2]]}]", "true"},
      {"within", "[4, [1, [null]]]", "null"},
      {"within", "[4, 4]", "null"},
      {"within", "[4, \"MISSING\"]", "MISSING"},
      {"exists", "[[1]]", "true"},
      {"exists", "[[]]", "false"},
      {"exists", "[\"MISSING\"]", "MISSING"},
      {"exists", "[null]", "null"},
      {"exists", "[1]", "null"},
  });
}

TEST(ComparisonFunctionsTest, Logic) {
  CheckTexts({
      {"and", "[true, 1, \"x\"]", "true"},
      {"and", "[true, false, null]", "false"},
      {"and", "[\"MISSING\", false]", "false"},
      {"and", "[\"MISSING\", null, true]", "MISSING"},
      {"and", "[null, true]", "null"},
      {"or", "[false, null, true]", "true"},
      {"or", "[\"MISSING\", null, false]", "null"},
      {"or", "[\"MISSING\", false]", "MISSING"},
      {"or", "[0, \"\"]", "false"},
      {"not", "[true]", "false"},
      {"not", "[[]]", "true"},
      {"not", "[null]", "null"},
      {"not", "[\"MISSING\"]", "MISSING"},
  });
}

TEST(ComparisonFunctionsTest, Unknown) {
  CheckTexts({
      {"is_null", "[null]", "true"},
      {"is_null", "[1]", "false"},
      {"is_null", "[\"MISSING\"]", "MISSING"},
      {"is_not_null", "[1]", "true"},
      {"isnotnull", "[null]", "false"},
      {"is_not_null", "[\"MISSING\"]", "MISSING"},
      {"is_missing", "[\"MISSING\"]", "true"},
      {"ismissing", "[null]", "false"},
      {"is_not_missing", "[null]", "true"},
      {"is_not_missing", "[\"MISSING\"]", "false"},
      {"is_known", "[1]", "true"},
      {"is_valued", "[null]", "false"},
      {"is_not_unknown", "[\"MISSING\"]", "false"},
      {"is_not_valued", "[\"MISSING\"]", "true"},
      {"is_unknown", "[null]", "true"},
      {"is_not_known", "[0]", "false"},
      {"is_distinct_from", "[null, null]", "false"},
      {"is_distinct_from", "[null, \"MISSING\"]", "true"},
      {"is_distinct_from", "[1, 1]", "false"},
      {"is_not_distinct_from", "[\"MISSING\", \"MISSING\"]", "true"},
      {"is_not_distinct_from", "[1, null]", "false"},
  });
}

TEST(ComparisonFunctionsTest, Extremes) {
  CheckTexts({
      {"greatest", "[1, 3, 2]", "3"},
      {"greatest", "[1, \"a\", null]", "\"a\""},
      {"least", "[\"MISSING\", 3, 2]", "2"},
      {"least", "[null, \"MISSING\"]", "null"},
      {"successor", "[\"MISSING\"]", "null"},
      {"successor", "[null]", "false"},
      {"successor", "[false]", "true"},
      {"successor", "[1]", "2"},
      {"successor", "[9223372036854775807]", "\"\""},
      {"successor", "[\"a\"]", "\"a \""},
      {"successor", "[[]]", "[null]"},
      {"successor", "[[1, 2]]", "[1,3]"},
      {"successor", "[{\"b\": 1, \"a\": 2}]", "{\"b\":2,\"a\":2}"},
  });
  TestContext context;
  const Value values[] = {nullptr,
                          false,
                          true,
                          std::nan(""),
                          -std::numeric_limits<double>::infinity(),
                          0.5,
                          7,
                          "x",
                          Value::Array({1}),
                          Value::Object({{"a", 1}}),
                          Value::Bytes("x")};
  for (const Value& value : values) {
    const Value next = Call(context, "successor", {value});
    EXPECT_TRUE(json::ValueLess()(value, next)) << ShowValue(value);
  }
}

TEST(ComparisonFunctionsTest, Truth) {
  for (const Value& value : {Value(), Value(nullptr), Value(false), Value(0), Value(-0.0),
                             Value(std::nan("")), Value(""), FromText("[]"), FromText("{}")}) {
    EXPECT_FALSE(Truth(value)) << ShowValue(value);
  }
  for (const Value& value : {Value(true), Value(-1), Value(0.1), Value("0"), FromText("[null]"),
                             FromText("{\"a\":0}")}) {
    EXPECT_TRUE(Truth(value)) << ShowValue(value);
  }
}

}  // namespace
}  // namespace sluice::query
