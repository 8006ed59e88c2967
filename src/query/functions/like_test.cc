#include "query/functions/like.h"

#include "base/random.h"
#include "query/functions/test_context.h"

namespace sluice::query {
namespace {

TEST(Like, Calls) {
  CheckCalls({
      {"like", {"abc", "abc"}, true},
      {"like", {"abc", "ab"}, false},
      {"like", {"abc", "a%"}, true},
      {"like", {"abc", "%c"}, true},
      {"like", {"abc", "%b%"}, true},
      {"like", {"abc", "%x%"}, false},
      {"like", {"abc", "a%c"}, true},
      {"like", {"ac", "a%c"}, true},
      {"like", {"a", "a%a"}, false},
      {"like", {"abc", "a_c"}, true},
      {"like", {"aéc", "a_c"}, true},
      {"like", {"ac", "a_c"}, false},
      {"like", {"", ""}, true},
      {"like", {"", "%"}, true},
      {"like", {"", "_"}, false},
      {"like", {"a\nb", "a%b"}, true},
      {"like", {"a\nb", "a_b"}, true},
      {"like", {"50%", "50\\%"}, true},
      {"like", {"50x", "50\\%"}, false},
      {"like", {"a_b", "a\\_b"}, true},
      {"like", {"a.b", "a.b"}, true},
      {"like", {"axb", "a.b"}, false},
      {"like", {"a\\b", "a\\\\b"}, true},
      {"like", {"50%", "50!%", "!"}, true},
      {"like", {"a\\b", "a\\b", "!"}, true},
      {"like", {"aXbXc", "%X_X%"}, true},
      {"like", {"abcabd", "%ab_"}, true},
      {"like", {"é", "_"}, true},
      {"like", {"%", "%%", "%"}, true},
      {"like", {"x", "%%", "%"}, false},
      {"like_prefix", {"ab%c"}, "ab"},
      {"like_prefix", {"a\\%b_"}, "a%b"},
      {"like_prefix", {"a!%b_", "!"}, "a%b"},
      {"like_stop", {"ab%"}, "ac"},
      {"like_stop", {"%"}, Value::EmptyArray()},
      {"like_stop", {"ab"}, Value(std::string_view("ab\0", 3))},
      {"like_stop", {"a\u07ff%"}, "a\u0800"},
      {"like_stop", {"a\U0010ffff%"}, "b"},
      {"like_suffix", {"%_ab%"}, "ab%"},
      {"like_suffix", {"%\\%a"}, "\\%a"},
      {"like_suffix", {"%"}, ""},
  });
  CheckUnknowns("like", {"a", "b", "c"}, {1, 2, 3});
  for (const char* name : {"like_prefix", "like_stop", "like_suffix"}) {
    CheckUnknowns(name, {"a", "b"}, {1, 2});
  }
}

TEST(Like, BadPatternsFail) {
  for (const auto& args : {std::vector<Value>{"a", "a\\"}, {"a", "a", "xy"}, {"a", "a", ""}}) {
    TestContext context;
    Call(context, "like", args);
    EXPECT_EQ(CodeOf(context.failure), QueryCode::kEvaluation);
  }
}

// The definition, without cleverness.
bool Naive(std::string_view text, std::string_view pattern) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '%') {
    return Naive(text, pattern.substr(1)) || (!text.empty() && Naive(text.substr(1), pattern));
  }
  return !text.empty() && (pattern[0] == '_' || pattern[0] == text[0]) &&
         Naive(text.substr(1), pattern.substr(1));
}

TEST(Like, AgreesWithTheDefinition) {
  TestContext context;
  Random random(7);
  const auto make = [&](std::string_view letters, uint64_t longest) {
    std::string out;
    for (uint64_t i = random.Below(longest); i > 0; --i)
      out += letters[random.Below(letters.size())];
    return out;
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = make("ab", 10), pattern = make("ab%_", 7);
    const bool expected = Naive(text, pattern);
    EXPECT_EQ(*LikeMatches(context, text, pattern), expected) << text << " LIKE " << pattern;
    EXPECT_EQ(LikePattern::Parse(pattern)->Matches(context, text), expected)
        << text << " LIKE " << pattern;
  }
}

}  // namespace
}  // namespace sluice::query
