#include "query/functions/test_context.h"

namespace sluice::query {
namespace {

TEST(ObjectFunctionsTest, Changes) {
  CheckTexts({
      {"object_add", R"([{"a": 1}, "b", 2])", R"({"a":1,"b":2})"},
      {"object_add", R"([{"a": 1}, "a", 2])", R"({"a":1})"},
      {"object_add", R"([{"a": 1}, "b", null])", R"({"a":1,"b":null})"},
      {"object_add", R"([{"a": 1}, "b", "MISSING"])", R"({"a":1})"},
      {"object_put", R"([{"a": 1}, "a", 2])", R"({"a":2})"},
      {"object_put", R"([{"a": 1, "b": 2}, "a", "MISSING"])", R"({"b":2})"},
      {"object_concat", R"([{"a": 1}, {"b": 2}, {"a": 3}])", R"({"a":3,"b":2})"},
      {"object_concat", R"([{"a": 1}, [{"b": 2}]])", "null"},
      {"object_concat2", R"([{"a": 1}, [{"b": 2}, {"a": 5}], {"c": 3}])", R"({"a":5,"b":2,"c":3})"},
      {"object_concat2", R"([[{"a": 1}], {"c": 3}])", "null"},
      {"object_concat2", R"([{"a": 1}, [1]])", "null"},
      {"object_remove", R"([{"a": 1, "b": 2, "c": 3}, "a", "c", "x"])", R"({"b":2})"},
      {"object_rename", R"([{"a": 1, "b": 2}, "a", "c"])", R"({"c":1,"b":2})"},
      {"object_rename", R"([{"a": 1, "b": 2}, "a", "b"])", R"({"b":1})"},
      {"object_rename", R"([{"a": 1}, "x", "b"])", R"({"a":1})"},
      {"object_replace", R"([{"a": 1, "b": 1, "c": 2}, 1, 9])", R"({"a":9,"b":9,"c":2})"},
      {"object_replace", R"([{"a": 1, "c": 2}, 1, "MISSING"])", R"({"c":2})"},
      {"object_replace", R"([{"a": 1}, 1, null])", R"({"a":null})"},
      {"object_replace", R"([{"a": 1}, null, 2])", "null"},
      {"object_replace", R"([{"a": 1}, "MISSING", 2])", "MISSING"},
      {"object_replace", R"([5, 1, 2])", "null"},
      {"object_remove_fields", R"([{"a": {"b": 1, "c": [1, 2]}, "d": 4}, "a.c[0]", ["d", "x.y"]])",
       R"({"a":{"b":1,"c":[2]}})"},
      {"object_remove_fields", R"([{"a b": 1, "c": 2}, "`a b`"])", R"({"c":2})"},
      {"object_remove_fields", R"([{"a": 1}, [5]])", "null"},
  });
  for (const char* name : {"object_add", "object_put"}) {
    CheckTexts({{name, R"([{}, "MISSING", 1])", "MISSING"},
                {name, R"(["MISSING", "a", 1])", "MISSING"},
                {name, R"([null, "a", 1])", "null"},
                {name, R"([{}, 5, 1])", "null"}});
  }
  const Value object = FromText(R"({"a":1})");
  CheckUnknowns("object_concat", {object, object}, {1, "a"});
  CheckUnknowns("object_concat2", {object, object}, {1, "a"});
  CheckUnknowns("object_remove", {object, "a"}, {1, 5});
  CheckUnknowns("object_remove_fields", {object, "a"}, {1, 5});
  CheckUnknowns("object_rename", {object, "a", "b"}, {1, 5, true});
  TestContext context;
  EXPECT_TRUE(Call(context, "object_remove_fields", {object, "a[["}).is_null());
  EXPECT_EQ(CodeOf(context.failure), QueryCode::kEvaluation);
}

TEST(ObjectFunctionsTest, Facts) {
  CheckTexts({
      {"object_field", R"([{"a": {"b": [1, 2]}}, "a.b[1]"])", "2"},
      {"object_field", R"([{"a": 1}, "x.y"])", "MISSING"},
      {"object_field", R"([{"a": {"b.c": 2}}, "a.`b.c`"])", "2"},
      {"object_field", R"([{"A": {"b": [{"C d": 3}]}}, "`a`i.b[0].`c D`i"])", "3"},
      {"object_field", R"([{"A": 1, "a": 2}, "`a`i"])", "2"},
      {"object_field", R"([{"A": 1}, "`b`i.c"])", "MISSING"},
      {"object_field", R"([{"A": 1}, "`a`i[["])", "null"},
      {"object_field", R"([{"a": 1}, "a[["])", "null"},
      {"object_length", R"([{"a": 1, "b": 2}])", "2"},
      {"object_names", R"([{"b": 1, "a": 2}])", R"(["a","b"])"},
      {"object_values", R"([{"b": 1, "a": 2}])", "[2,1]"},
      {"object_outervalues", R"([{"b": [1], "a": 2}])", "[2,[1]]"},
      {"object_pairs", R"([{"b": 1, "a": 2}])", R"([{"name":"a","val":2},{"name":"b","val":1}])"},
      {"object_pairs", R"([{"a": 2}, {"types": true}])", R"([{"name":"a","type":"number"}])"},
      {"object_pairs", R"([{"a": 2}, {}])", R"([{"name":"a","val":2}])"},
      {"object_inner_values", R"([{"b": [1], "a": [2, 3]}])", "[[2,3],1]"},
      {"object_innervalues", R"([{"b": [1]}])", "[[1]]"},
      {"object_inner_pairs", R"([{"b": [1], "a": 2}])",
       R"([{"name":"a","val":2},{"name":"b","val":1}])"},
      {"object_types", R"([{"a": 1, "b": [1], "c": null}])",
       R"({"a":"number","b":"array","c":"null"})"},
      {"object_types_nested", R"([{"a": 1, "b": [1, {"x": "y"}]}])",
       R"({"a":"number","b":["number",{"x":"string"}]})"},
      {"object_unwrap", R"([{"a": 1}])", "1"},
      {"object_unwrap", R"([{"a": 1, "b": 2}])", "null"},
  });
  const Value outer = Value::Object({{"a", Value::Array({1, Value()})}, {"b", 2}});
  CheckCalls({{"object_inner_values", {outer}, Value::Array({1, 2})}});
  const Value object = FromText(R"({"a":1})");
  for (const char* name :
       {"object_length", "object_names", "object_values", "object_pairs", "object_inner_values",
        "object_inner_pairs", "object_types", "object_types_nested", "object_unwrap"}) {
    CheckUnknowns(name, {object}, {"a"});
  }
  CheckUnknowns("object_pairs", {object, object}, {1, "a"});
  CheckUnknowns("object_field", {object, "a"}, {1, 5});
}

}  // namespace
}  // namespace sluice::query
