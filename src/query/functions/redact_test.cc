#include "query/functions/test_context.h"

namespace sluice::query {
namespace {

TEST(RedactFunctionTest, Calls) {
  CheckTexts({
      {"redact", R"([{"b": "Jo, 12", "a": 3.14, "c": [true, null, -205], "d": {"e": "\u00fc"}}])",
       R"({"a":1.11,"b":"xx, xx","c":[true,null,-111],"d":{"e":"x"}})"},
      {"redact", R"([{"a": "2024-05-10T12:00:00Z", "b": "12:30:00"}])",
       R"({"a":"1111-11-11111:11:111","b":"11:11:11"})"},
      {"redact", R"([{"a": "x y", "b": true}, {"strict": true}])", R"({"a":"xxx","b":false})"},
      {"redact",
       R"([{"keep": "me", "secret": "abc", "in": {"secret": "d"}}, {"pattern": "secret"}])",
       R"({"in":{"secret":"x"},"keep":"me","secret":"xxx"})"},
      {"redact", R"([{"a": {"b": "c"}, "z": "y"}, {"pattern": "a", "name": true}])",
       R"({"f0000":{"f0000_f0000":"x"},"z":"y"})"},
      {"redact", R"([{"a": 1, "b": 2}, {"pattern": "A", "ignorecase": true, "omit": true}])",
       R"({"b":2})"},
      {"redact", R"([{"ab": 5, "b": 5}, {"pattern": "b", "exact": true}])", R"({"ab":5,"b":1})"},
      {"redact", R"([{"a": [[7]]}])", R"({"a":[[1]]})"},
      {"redact", "[[1]]", "null"},
      {"redact", "[{}, 5]", "null"},
      {"redact", R"(["MISSING"])", "MISSING"},
      {"redact", R"([{}, "MISSING"])", "MISSING"},
      {"redact", "[null]", "null"},
  });
}

}  // namespace
}  // namespace sluice::query
