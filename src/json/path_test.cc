#include "json/path.h"

#include <gtest/gtest.h>

#include "json/parse.h"
#include "json/print.h"

namespace sluice::json {
namespace {

TEST(Path, ParsesAndPrints) {
  const std::pair<std::string_view, std::vector<PathStep>> cases[] = {
      {"", {}},
      {"a", {"a"}},
      {"a.b[0].c", {"a", "b", int64_t{0}, "c"}},
      {"[3][-1].x y", {int64_t{3}, int64_t{-1}, "x y"}},
      {"`a.b`.`c``d`.``", {"a.b", "c`d", ""}},
      {"\u00e9.$x-1", {"\u00e9", "$x-1"}},
      {"a[4294967295]", {"a", int64_t{4294967295}}},
  };
  for (const auto& [text, steps] : cases) {
    const auto path = Path::Parse(text);
    ASSERT_TRUE(path) << path.error().ToString();
    EXPECT_EQ(path->steps(), steps) << text;
    EXPECT_EQ(path->ToString(), text);
  }
  EXPECT_EQ(Path::Parse("`plain`.b")->ToString(), "plain.b");
}

TEST(Path, ErrorsSayTheColumn) {
  const std::pair<std::string_view, uint32_t> cases[] = {
      {".", 1},      {"a.", 3},    {"a..b", 3},           {".a", 1},
      {"a[", 3},     {"a[]", 3},   {"a[x]", 3},           {"a[01]", 3},
      {"a[-0]", 3},  {"a[1 ]", 3}, {"a[0]b", 5},          {"a]", 2},
      {"a`b`", 2},   {"`a", 1},    {"a.`b``", 3},         {"a[+1]", 3},
      {"a[--1]", 3}, {"`a`b", 4},  {"a[99999999999]", 3},
  };
  for (const auto& [text, column] : cases) {
    const auto path = Path::Parse(text);
    ASSERT_FALSE(path) << text;
    EXPECT_EQ(path.error().id(), "path.invalid");
    EXPECT_EQ(path.error().place().column, column) << text;
  }
}

TEST(Path, LengthIsLimited) {
  std::string steps = "a";
  for (size_t i = 1; i < kMaxPathSteps; ++i) steps += ".a";
  EXPECT_EQ(Path::Parse(steps)->steps().size(), kMaxPathSteps);
  EXPECT_EQ(Path::Parse(steps + ".a").error().message(),
            "path '" + steps + ".': a path has at most 32 steps");
  EXPECT_TRUE(Path::Parse(std::string(kMaxPathBytes, 'x')));
  EXPECT_FALSE(Path::Parse(std::string(kMaxPathBytes + 1, 'x')));
}

TEST(Path, Gets) {
  const Value root = *Parse(R"({"a":[1,{"b":"x"},[2,3]],"":{"c":null}})");
  const auto get = [&](std::string_view text) { return ToText(Path::Parse(text)->Get(root)); };
  EXPECT_EQ(get("a[0]"), "1");
  EXPECT_EQ(get("a[1].b"), "\"x\"");
  EXPECT_EQ(get("a[-1][-2]"), "2");
  EXPECT_EQ(get("``.c"), "null");
  EXPECT_EQ(get(""), ToText(root));
  for (const char* text : {"b", "a.b", "a[3]", "a[-4]", "a[0][0]", "[0]", "a[1].b.c"}) {
    EXPECT_TRUE(Path::Parse(text)->Get(root).is_missing()) << text;
  }
}

}  // namespace
}  // namespace sluice::json
