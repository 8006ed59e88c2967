#include <cmath>

#include "query/functions/test_context.h"

namespace sluice::query {
namespace {

TEST(JsonFunctionsTest, Calls) {
  CheckTexts({
      {"decode_json", R"([" {\"a\": [1, null]} "])", R"({"a":[1,null]})"},
      {"json_decode", R"(["nonsense"])", "null"},
      {"decode_json", R"([""])", "null"},
      {"encode_json", R"([{"a": [1.50, "x"]}])", R"("{\"a\":[1.5,\"x\"]}")"},
      {"json_encode", "[null]", R"("null")"},
      {"encode_json", R"(["MISSING"])", R"("")"},
      {"encoded_size", R"([{"a": 1}])", "7"},
      {"encoded_size", "[null]", "4"},
      {"encoded_size", R"(["MISSING"])", "0"},
      {"poly_length", R"(["abc"])", "3"},
      {"poly_length", "[[1, 2]]", "2"},
      {"poly_length", R"([{"a": 1}])", "1"},
      {"pairs", R"([{"a": 1, "b": [2, {"c": 3}]}])",
       R"([["a",1],["b",[2,{"c":3}]],["b",2],["b",{"c":3}],["c",3]])"},
      {"pairs", "[[1]]", "[]"},
  });
  CheckCalls({{"encode_json", {std::nan("")}, "\"NaN\""}});
  CheckUnknowns("decode_json", {"1"}, {5});
  CheckUnknowns("poly_length", {"a"}, {5});
  CheckUnknowns("pairs", {Value::EmptyObject()}, {5});
}

TEST(JsonFunctionsTest, SizesAreBounded) {
  Value value = 1;
  for (int i = 0; i < 10; ++i) value = Value::Array(std::vector<Value>(1000, value));
  for (const char* name : {"encode_json", "encoded_size", "pairs"}) {
    TestContext context;
    Call(context, name, {value});
    EXPECT_EQ(CodeOf(context.failure), QueryCode::kMemoryQuota) << name;
  }
}

}  // namespace
}  // namespace sluice::query
