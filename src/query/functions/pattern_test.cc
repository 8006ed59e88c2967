#include "query/functions/test_context.h"

namespace sluice::query {
namespace {

Value Strings(std::initializer_list<Value> items) { return Value::Array(items); }

TEST(PatternFunctions, Calls) {
  CheckCalls({
      {"regexp_contains", {"abc123", "[0-9]+"}, true},
      {"contains_regex", {"abc", "^b"}, false},
      {"contains_regexp", {"abc", "b"}, true},
      {"regex_contains", {"abc", "x"}, false},
      {"regexp_like", {"abc", "a.c"}, true},
      {"regexp_like", {"xabc", "a.c"}, false},
      {"regex_like", {"b", "a|b"}, true},
      {"regexp_position", {"éab", "a"}, 2},
      {"regexp_position1", {"éab", "a"}, 3},
      {"regexp_position1", {"b", "a"}, -1},
      {"regex_pos", {"b", "a"}, -1},
      {"regexp_replace", {"a1b22", "[0-9]+", "$1"}, "a$1b$1"},
      {"regexp_replace", {"a1b2", "[0-9]", "x", 1}, "axb2"},
      {"regexp_replace", {"a1b2", "[0-9]", "x", -1}, "a1b2"},
      {"regexp_replace", {"a1b2", "[0-9]", "x", 1.5}, nullptr},
      {"regex_replace", {"abc", "b*", "-"}, "-a-c-"},
      {"regex_replace", {"éa", "", "-"}, "-é-a-"},
      {"regexp_matches", {"a1b22", "[0-9]+"}, Strings({"1", "22"})},
      {"regexp_matches", {"ab", "x"}, Strings({})},
      {"regexp_split", {"a1b22c", "[0-9]+"}, Strings({"a", "b", "c"})},
      {"regexp_split", {"a1b2", "[0-9]"}, Strings({"a", "b"})},
      {"regexp_split", {"abc", ""}, Strings({"a", "b", "c"})},
      {"regexp_split", {"abc", "x"}, Strings({})},
      {"regexp_prefix", {"ab+c"}, "ab"},
      {"regexp_prefix", {"abc*d"}, "ab"},
      {"regexp_prefix", {"a\\.b[x|y]"}, "a.b"},
      {"regexp_prefix", {"ab|cd"}, ""},
      {"regexp_prefix", {"^ab"}, ""},
      {"regexp_stop", {"ab.*"}, "ac"},
      {"regexp_stop", {"ab"}, Value(std::string_view("ab\0", 3))},
      {"regexp_stop", {".*"}, Value::EmptyArray()},
      {"regexp_suffix", {".*ab.*"}, "ab.*"},
      {"regexp_suffix", {".*"}, ""},
  });
  for (const char* name : {"regexp_contains", "regexp_like", "regexp_position0", "regexp_position1",
                           "regexp_matches", "regexp_split"}) {
    CheckUnknowns(name, {"a", "b"}, {1, 2});
  }
  CheckUnknowns("regexp_replace", {"a", "b", "c", 1}, {1, 2, 3, "4"});
  for (const char* name : {"regexp_prefix", "regexp_stop", "regexp_suffix"}) {
    CheckUnknowns(name, {"a"}, {1});
  }
}

TEST(PatternFunctions, EveryNameIsThere) {
  for (const char* name : {"regex_position0", "regex_pos0", "regexp_position0", "regexp_pos0",
                           "regex_position", "regex_pos", "regexp_position", "regexp_pos",
                           "regex_position1", "regex_pos1", "regexp_position1", "regexp_pos1"}) {
    EXPECT_NE(FindFunction(name), nullptr) << name;
  }
}

TEST(PatternFunctions, BadPatternsFail) {
  TestContext context;
  Call(context, "regexp_like", {"a", "("});
  EXPECT_EQ(CodeOf(context.failure), QueryCode::kEvaluation);
}

}  // namespace
}  // namespace sluice::query
