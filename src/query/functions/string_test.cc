#include "query/functions/test_context.h"
#include "query/functions/text.h"

namespace sluice::query {
namespace {

Value Strings(std::initializer_list<Value> items) { return Value::Array(items); }

TEST(Text, Runes) {
  EXPECT_EQ(RuneCount("aé€😀"), 4u);
  EXPECT_EQ(RuneOffset("aé€😀", 2), 3u);
  EXPECT_EQ(RuneOffset("aé", 9), 3u);
  EXPECT_EQ(RuneBefore("a€", 4).code, U'€');
  EXPECT_EQ(RuneAt("\xff", 0).code, 0xfffdu);
  EXPECT_EQ(TextValue("a\xc3"), Value("a\uFFFD"));
  EXPECT_EQ(TextValue("\x80z"), Value("\uFFFDz"));
}

TEST(StringFunctions, LengthAndCase) {
  CheckCalls({
      {"contains", {"abc", "bc"}, true},
      {"contains", {"abc", "x"}, false},
      {"contains", {"abc", ""}, true},
      {"length", {"né"}, 3},
      {"mb_length", {"né"}, 2},
      {"len", {"né"}, 3},
      {"mb_len", {"né"}, 2},
      {"len", {Value::Array({1, 2})}, 2},
      {"len", {Value::Object({{"a", 1}})}, 1},
      {"len", {true}, 1},
      {"len", {123.5}, 5},
      {"len", {Value::Bytes("abcd")}, 4},
      {"lower", {"ÀBC Σ"}, "àbc σ"},
      {"upper", {"àbc straße ǆ"}, "ÀBC STRAßE Ǆ"},
      {"title", {"hello wORLD o'neil a_b ÉCOLE"}, "Hello World O'Neil A_b École"},
      {"initcap", {"ab-cd"}, "Ab-Cd"},
  });
  for (const char* name :
       {"length", "mb_length", "lower", "upper", "title", "reverse", "suffixes"}) {
    CheckUnknowns(name, {"abc"}, {1});
  }
  CheckUnknowns("contains", {"abc", "b"}, {1, Value::EmptyArray()});
  CheckCalls({{"len", {kMissing}, kMissing}, {"len", {nullptr}, nullptr}});
}

TEST(StringFunctions, Trim) {
  CheckCalls({
      {"trim", {" \t a b \r\n"}, "a b"},
      {"ltrim", {"  a  "}, "a  "},
      {"rtrim", {"  a  "}, "  a"},
      {"trim", {"éxaéx", "xé"}, "a"},
      {"ltrim", {"...a...", "."}, "a..."},
      {"rtrim", {"...a...", "."}, "...a"},
      {"trim", {"aaa", "a"}, ""},
      {"trim", {" a ", ""}, " a "},
  });
  for (const char* name : {"trim", "ltrim", "rtrim"}) CheckUnknowns(name, {"a", "b"}, {1, 2});
}

TEST(StringFunctions, Position) {
  CheckCalls({
      {"position", {"écho", "ho"}, 3},
      {"mb_position", {"écho", "ho"}, 2},
      {"position1", {"écho", "ho"}, 4},
      {"mb_position1", {"écho", "ho"}, 3},
      {"position", {"abc", "x"}, -1},
      {"position1", {"abc", "x"}, 0},
      {"mb_position", {"abc", "x"}, -1},
      {"mb_position1", {"abc", "x"}, 0},
      {"pos", {"abc", "c"}, 2},
      {"pos0", {"abc", "c"}, 2},
      {"pos1", {"abc", "c"}, 3},
      {"mb_pos", {"abc", "c"}, 2},
      {"mb_pos0", {"abc", "c"}, 2},
      {"mb_pos1", {"abc", "c"}, 3},
  });
  for (const char* name : {"position0", "position1", "mb_position0", "mb_position1"}) {
    CheckUnknowns(name, {"abc", "b"}, {1, 2});
  }
}

TEST(StringFunctions, Substr) {
  CheckCalls({
      {"substr", {"abcdef", 2}, "cdef"},      {"substr", {"abcdef", 2, 2}, "cd"},
      {"substr", {"abcdef", 2, 99}, "cdef"},  {"substr", {"abcdef", -2}, "ef"},
      {"substr", {"abcdef", -2, 1}, "e"},     {"substr", {"abcdef", 6}, nullptr},
      {"substr", {"abcdef", -7}, nullptr},    {"substr", {"abcdef", 0, -1}, nullptr},
      {"substr", {"abcdef", 0, 0}, ""},       {"substr", {"abcdef", 1.5}, nullptr},
      {"substr", {"abcdef", 1.0, 2.0}, "bc"}, {"substr", {"", 0}, nullptr},
      {"substr", {"abc", 1e300}, nullptr},    {"substr0", {"abc", 1}, "bc"},
      {"substr1", {"abcdef", 1, 2}, "ab"},    {"substr1", {"abcdef", 0, 2}, "ab"},
      {"substr1", {"abcdef", 6}, "f"},        {"substr1", {"abcdef", -1}, "f"},
      {"mb_substr", {"aébc", 1, 2}, "éb"},    {"mb_substr0", {"aébc", -2}, "bc"},
      {"mb_substr1", {"aébc", 2, 1}, "é"},    {"substr", {"aéb", 0, 2}, "a\uFFFD"},
  });
  for (const char* name : {"substr0", "substr1", "mb_substr0", "mb_substr1"}) {
    CheckUnknowns(name, {"abc", 1, 1}, {1, "1", "1"});
  }
}

TEST(StringFunctions, ReverseAndSuffixes) {
  CheckCalls({
      {"reverse", {"aé€"}, "€éa"},
      {"reverse", {"xe\u0301y"}, "ye\u0301x"},
      {"reverse", {"\u0301a"}, "a\u0301"},
      {"reverse", {""}, ""},
      {"suffixes", {"aéb"}, Strings({"aéb", "éb", "b"})},
      {"suffixes", {""}, Strings({})},
  });
}

TEST(StringFunctions, Concat) {
  CheckCalls({
      {"concat", {"a", "b", "c"}, "abc"},
      {"concat", {"a", 1}, nullptr},
      {"concat", {"a", nullptr, kMissing}, kMissing},
      {"concat2", {"-", "a", "b"}, "a-b"},
      {"concat2", {"-", Strings({"a", "b"}), "c", Strings({})}, "a-b-c"},
      {"concat2", {"-", Strings({"a", 1})}, nullptr},
      {"array_to_string", {", ", Strings({"a", "b"})}, "a, b"},
  });
  CheckUnknowns("concat", {"a", "b"}, {1, Value::EmptyArray()});
  CheckUnknowns("concat2", {"a", "b"}, {Value::EmptyArray(), 1});
}

TEST(StringFunctions, RepeatAndPad) {
  CheckCalls({
      {"repeat", {"ab", 3}, "ababab"},
      {"repeat", {"ab", 0}, ""},
      {"repeat", {"ab", -1}, nullptr},
      {"repeat", {"ab", 1.5}, nullptr},
      {"lpad", {"7", 3}, "  7"},
      {"lpad", {"7", 4, "ab"}, "aba7"},
      {"lpad", {"abc", 2}, "ab"},
      {"rpad", {"7", 4, "ab"}, "7aba"},
      {"rpad", {"abc", 3}, "abc"},
      {"rpad", {"abc", 0}, ""},
      {"mb_lpad", {"é", 3, "ü"}, "üüé"},
      {"mb_rpad", {"éa", 4, "üx"}, "éaüx"},
      {"mb_rpad", {"éab", 2}, "éa"},
      {"lpad", {"é", 4, "-"}, "--é"},
      {"lpad", {"a", 3, ""}, nullptr},
      {"lpad", {"a", -1}, nullptr},
  });
  CheckUnknowns("repeat", {"a", 2}, {1, "2"});
  for (const char* name : {"lpad", "rpad", "mb_lpad", "mb_rpad"}) {
    CheckUnknowns(name, {"a", 2, "b"}, {1, "2", 3});
  }
}

TEST(StringFunctions, BigResultsAreRefused) {
  for (const auto& args : {std::vector<Value>{"abcd", 1 << 21}, {"abcd", 1e18}}) {
    TestContext repeat, pad;
    Call(repeat, "repeat", args);
    EXPECT_FALSE(repeat.failure.ok());
    Call(pad, "lpad", args);
    EXPECT_FALSE(pad.failure.ok());
  }
  TestContext context;
  Call(context, "suffixes", {std::string(5000, 'x')});
  EXPECT_EQ(CodeOf(context.failure), QueryCode::kMemoryQuota);
  TestContext range;
  Call(range, "repeat", {"", 1 << 25});
  EXPECT_EQ(CodeOf(range.failure), QueryCode::kRange);
}

TEST(StringFunctions, ReplaceAndSplit) {
  CheckCalls({
      {"replace", {"abcabc", "b", "xx"}, "axxcaxxc"},
      {"replace", {"abcabc", "b", "", 1}, "acabc"},
      {"replace", {"abc", "z", "y"}, "abc"},
      {"replace", {"aé", "", "-"}, "-a-é-"},
      {"replace", {"ab", "", "-", 2}, "-a-b"},
      {"replace", {"aaa", "aa", "b"}, "ba"},
      {"replace", {"aaa", "a", "b", 0}, "aaa"},
      {"replace", {"aaa", "a", "b", -1}, "bbb"},
      {"replace", {"aaa", "a", "b", 1.5}, nullptr},
      {"replace", {"", "", "b"}, "b"},
      {"split", {" a  b\tc "}, Strings({"a", "b", "c"})},
      {"split", {"a,b,,c", ","}, Strings({"a", "b", "", "c"})},
      {"split", {"", ","}, Strings({""})},
      {"split", {"aé", ""}, Strings({"a", "é"})},
      {"split", {"  "}, Strings({})},
      {"split", {"a--b", "--"}, Strings({"a", "b"})},
  });
  CheckUnknowns("replace", {"a", "b", "c", 1}, {1, 2, 3, "4"});
  CheckUnknowns("split", {"a", "b"}, {1, 2});
}

TEST(StringFunctions, Mask) {
  CheckCalls({
      {"mask", {"SomeTextToMask"}, "********"},
      {"mask", {"SomeTextToMask", Value::Object({{"mask", "++++"}})}, "++++"},
      {"mask", {"SomeTextToMask", Value::Object({{"length", "source"}})}, "********ToMask"},
      {"mask",
       {"SomeTextToMask", Value::Object({{"anchor", "end"}, {"length", "source"}})},
       "SomeTe********"},
      {"mask",
       {"1234-5678", Value::Object({{"mask", "****     "}, {"length", "source"}})},
       "****-5678"},
      {"mask", {"abcdef", Value::Object({{"anchor", 2}, {"mask", "**"}})}, "ab**"},
      {"mask",
       {"abcdef", Value::Object({{"anchor", -2}, {"mask", "**"}, {"length", "source"}})},
       "ab**ef"},
      {"mask", {"user@host", Value::Object({{"anchor", "@"}, {"mask", "*****"}})}, "user*****"},
      {"mask", {"abc", Value::Object({{"anchor", "[0-9]"}})}, "abc"},
      {"mask", {"abc", Value::Object({{"anchor", 9}})}, "abc"},
      {"mask",
       {"20231114", Value::Object({{"mask", "    -  -  "}, {"inject", "-"}, {"length", "source"}})},
       "2023-11-14"},
      {"mask", {"abc", Value::Object({{"mask", "#*#"}, {"hole", "#"}})}, "a*c"},
  });
  CheckUnknowns("mask", {"a", Value::EmptyObject()}, {1, "x"});
}

}  // namespace
}  // namespace sluice::query
