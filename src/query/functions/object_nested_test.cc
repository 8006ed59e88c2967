#include "query/functions/test_context.h"

namespace sluice::query {
namespace {

constexpr std::string_view kObject = R"({"a": 1, "b": {"c": [10, {"d": 2}]}, "x.y": 3})";

// name(kObject, options) prints as `expected`.
struct OptionCase {
  std::string_view name;
  std::string_view options;
  std::string_view expected;
};

void CheckOptions(std::initializer_list<OptionCase> cases) {
  TestContext context;
  for (const OptionCase& row : cases) {
    const Value result = Call(context, row.name, {FromText(kObject), FromText(row.options)});
    EXPECT_EQ(ShowValue(result), row.expected) << row.name << row.options;
  }
  EXPECT_TRUE(context.failure.ok()) << context.failure.ToString();
}

TEST(ObjectNestedFunctionsTest, Paths) {
  CheckOptions({
      {"object_paths", "{}", R"(["`x.y`","a","b","b.c","b.c[1].d"])"},
      {"object_paths", R"({"composites": false})", R"(["`x.y`","a","b.c[0]","b.c[1].d"])"},
      {"object_paths", R"({"arraysubscript": false})", R"(["`x.y`","a","b","b.c","b.c[*].d"])"},
      {"object_paths", R"({"index": true})", R"(["`a`","`b`.`c`","`b`.`c`[].`d`","`x.y`"])"},
      {"object_paths", R"({"pattern": "C", "ignorecase": true})", R"(["b.c","b.c[1].d"])"},
      {"object_paths", R"({"pattern": "b.c", "exact": true})", R"(["b.c"])"},
      {"object_paths", R"({"pattern": "x.y`", "regex": false})", R"(["`x.y`"])"},
      {"object_paths", R"({"pattern": "^d$", "patternspace": "field"})", R"(["b.c[1].d"])"},
  });
  CheckTexts({{"object_paths", R"([{"a": [{"b": 1}, {"b": 2}]}, {"arraysubscript": false}])",
               R"(["a","a[*].b"])"},
              {"object_paths",
               R"([{"a": [{"b": 1}, {"b": 2}]}, {"arraysubscript": false, "unique": false}])",
               R"(["a","a[*].b","a[*].b"])"},
              {"object_paths", R"([[{"b": 1}]])", R"(["[0].b"])"}});
}

TEST(ObjectNestedFunctionsTest, Pairs) {
  CheckOptions({
      {"object_pairs_nested", "{}",
       R"([{"name":"`x.y`","val":3},{"name":"a","val":1},{"name":"b.c[0]","val":10},)"
       R"({"name":"b.c[1].d","val":2}])"},
      {"object_pairs_nested", R"({"composites": true, "pattern": "c$"})",
       R"([{"name":"b.c","val":[10,{"d":2}]}])"},
      {"object_pairs_nested", R"({"report": "field", "pattern": "c"})",
       R"([{"name":"c[0]","val":10},{"name":"d","val":2}])"},
      {"object_pairs_nested", R"({"types": true, "pattern": "^a"})",
       R"([{"name":"a","type":"number"}])"},
      {"object_pairs_nested", R"({"index": true, "pattern": "c"})",
       R"([{"name":"`b`.`c`[]","val":10},{"name":"`b`.`c`[].`d`","val":2}])"},
  });
}

TEST(ObjectNestedFunctionsTest, FilterAndExtract) {
  CheckOptions({
      {"object_filter", R"({"pattern": "d"})", R"({"b":{"c":[{"d":2}]}})"},
      {"object_filter", R"({"pattern": "^b$"})", R"({"b":{"c":[10,{"d":2}]}})"},
      {"object_filter", R"({"pattern": "c", "composites": false})", R"({"b":{"c":[10,{"d":2}]}})"},
      {"object_filter", R"({"pattern": "nothing"})", "null"},
      {"object_extract", R"({"min": "b"})",
       R"([{"name":"b","val":{"c":[10,{"d":2}]}},{"name":"x.y","val":3}])"},
      {"object_extract", R"({"max": "b"})", R"([{"name":"a","val":1}])"},
      {"object_extract", R"({"pattern": "^x"})", R"([{"name":"x.y","val":3}])"},
  });
  CheckTexts({{"object_extract", R"([{"b": 1, "a": 2}])",
               R"([{"name":"a","val":2},{"name":"b","val":1}])"}});
}

TEST(ObjectNestedFunctionsTest, Unknowns) {
  const Value object = FromText(kObject);
  for (const char* name :
       {"object_paths", "object_pairs_nested", "object_filter", "object_extract"}) {
    CheckUnknowns(name, {object, Value::EmptyObject()}, {"a", 5});
    TestContext context;
    EXPECT_TRUE(Call(context, name, {object, FromText(R"({"pattern": "("})")}).is_null());
    EXPECT_FALSE(context.failure.ok()) << name;
  }
}

}  // namespace
}  // namespace sluice::query
