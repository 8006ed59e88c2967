#include "query/functions/test_context.h"

namespace sluice::query {
namespace {

Value List(std::initializer_list<Value> items) { return Value::Array(items); }

TEST(TokenFunctions, Tokens) {
  const Value document =
      Value::Object({{"name", "Jo Doe"}, {"tags", List({"a-b", 1, true, nullptr})}});
  CheckCalls({
      {"tokens", {"The quick, the QUICK"}, List({"QUICK", "The", "quick", "the"})},
      {"tokens",
       {"The quick, the QUICK", Value::Object({{"case", "lower"}})},
       List({"quick", "the"})},
      {"tokens", {"Ab", Value::Object({{"case", "UPPER"}})}, List({"AB"})},
      {"tokens", {document}, List({nullptr, true, 1, "Doe", "Jo", "a", "b", "name", "tags"})},
      {"tokens",
       {document, Value::Object({{"names", false}})},
       List({nullptr, true, 1, "Doe", "Jo", "a", "b"})},
      {"tokens",
       {"(jo@x.org), ok!", Value::Object({{"specials", true}})},
       List({"jo", "jo@x.org", "ok", "org", "x"})},
      {"tokens", {" a b ", Value::Object({{"split", false}})}, List({"a b"})},
      {"tokens", {" a b ", Value::Object({{"split", false}, {"trim", false}})}, List({" a b "})},
      {"tokens", {"é1 ²"}, List({"²", "é1"})},
      {"tokens", {""}, List({})},
      {"tokens", {nullptr}, List({nullptr})},
      {"tokens", {5}, List({5})},
      {"tokens", {kMissing}, kMissing},
      {"tokens", {"a", kMissing}, kMissing},
      {"tokens", {"a", 1}, nullptr},
  });
}

TEST(TokenFunctions, Contains) {
  const Value lower = Value::Object({{"case", "lower"}});
  CheckCalls({
      {"contains_token", {"one Two", "Two"}, true},
      {"contains_token", {"one Two", "two"}, false},
      {"contains_token", {"one Two", "two", lower}, true},
      {"has_token", {List({"x", 7}), 7.0}, true},
      {"contains_token", {"one", "on"}, false},
      {"contains_token", {Value::Object({{"key", 1}}), "key"}, true},
      {"contains_token",
       {Value::Object({{"key", 1}}), "key", Value::Object({{"names", false}})},
       false},
      {"contains_token_like", {"one Two", "T%"}, true},
      {"contains_token_like", {"one Two", "t%"}, false},
      {"contains_token_like", {"one Two", "t_o", lower}, true},
      {"contains_token_regexp", {"one Two", "[a-z]+"}, true},
      {"contains_token_regex", {"one Two", "n"}, false},
      {"contains_token_regex", {List({1, 2}), ".*"}, false},
  });
  CheckUnknowns("contains_token_like", {"a", "b", lower}, {nullptr, 1, "x"});
  CheckUnknowns("contains_token_regexp", {"a", "b", lower}, {nullptr, 1, "x"});
  CheckUnknowns("contains_token", {"a", "b", lower}, {nullptr, nullptr, "x"});
}

}  // namespace
}  // namespace sluice::query
