#include "yaml/yaml.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::yaml {
namespace {

Node Good(std::string_view text, const Limits& limits = {}) {
  auto node = Parse(text, "f.yaml", limits);
  EXPECT_TRUE(node) << (node ? "" : node.error().ToString());
  return node ? *node : Node();
}

std::string Problem(std::string_view text, const Limits& limits = {}) {
  const auto node = Parse(text, "f.yaml", limits);
  return node ? "no error" : node.error().ToString();
}

TEST(Yaml, KeepsOrderKindsAndPlaces) {
  const Node root = Good("b: 1\na:\n  - x\n  - \"2\"\n  - ~\nc: {}\n");
  ASSERT_TRUE(root.is_map());
  ASSERT_EQ(root.entries.size(), 3u);
  EXPECT_EQ(root.entries[0].key, "b");
  EXPECT_EQ(root.entries[1].key, "a");
  EXPECT_EQ(root.entries[1].line, 2u);
  const Node& list = root.entries[1].value;
  ASSERT_TRUE(list.is_list());
  EXPECT_EQ(list.items[0].text, "x");
  EXPECT_FALSE(list.items[0].quoted);
  EXPECT_EQ(list.items[0].line, 3u);
  EXPECT_EQ(list.items[0].column, 5u);
  EXPECT_TRUE(list.items[1].quoted);
  EXPECT_TRUE(list.items[2].is_null());
  EXPECT_TRUE(root.Find("c")->is_map());
  EXPECT_EQ(root.Find("d"), nullptr);
}

TEST(Yaml, EmptyTextIsNull) {
  EXPECT_TRUE(Good("").is_null());
  EXPECT_TRUE(Good("# only a comment\n").is_null());
}

TEST(Yaml, AliasesAreCopies) {
  const Node root = Good("a: &x {n: 1}\nb: *x\n");
  EXPECT_EQ(root.Find("b")->Find("n")->text, "1");
}

TEST(Yaml, RefusesWhatIsAmbiguous) {
  EXPECT_EQ(Problem("a: 1\nb: 2\na: 3\n"),
            "yaml.invalid: key 'a' stands twice in this map (first near line 1) (f.yaml:3:1)");
  EXPECT_EQ(Problem("a: 1\n---\nb: 2\n"),
            "yaml.invalid: expected one document, found a second one ('---') (f.yaml:2:1)");
  EXPECT_EQ(Problem("[1]: x\n"),
            "yaml.invalid: a key must be a plain value, not a list or a map (f.yaml:1:1)");
  EXPECT_NE(Problem("a: [1, 2\n"), "no error");
  EXPECT_NE(Problem("a: &x [*x]\n"), "no error");
  EXPECT_NE(Problem("a: *nowhere\n"), "no error");
}

TEST(Yaml, TellsInPlainWordsWhatIsNoYaml) {
  EXPECT_EQ(Problem("a:\n\tb: 1\n"),
            "yaml.invalid: a tab can't indent a line: use blanks (f.yaml:2:1)");
  EXPECT_EQ(Problem("a: {b: 1, c: [2, 3\nd: 4\n"),
            "yaml.invalid: the [ has no end: expected ], or a comma between entries "
            "(f.yaml:1:14)");
  EXPECT_EQ(Problem("# {\na: 'b {'\nc: it's {\nd: {e: 1\n"),
            "yaml.invalid: the { has no end: expected }, or a comma between entries (f.yaml:4:4)");
  EXPECT_EQ(Problem("a: b: c\n"),
            "yaml.invalid: a ':' can't be here: a text that has ': ' in it needs quotes, and a key "
            "a line of its own (f.yaml:1:5)");
  EXPECT_EQ(Problem("a: 1\n b: 2\n"),
            "yaml.invalid: a ':' can't be here: a text that has ': ' in it needs quotes, and a key "
            "a line of its own (f.yaml:2:3)");
  EXPECT_EQ(Problem("a: ]\n"), "yaml.invalid: this bracket closes nothing (f.yaml:1:4)");
  EXPECT_EQ(Problem("a: @b\n"),
            "yaml.invalid: a text can't begin with this character: put it in quotes (f.yaml:1:4)");
}

TEST(Yaml, RefusesWhatIsNotUtf8) {
  EXPECT_EQ(Problem("a: \"\xff\"\n"), "yaml.invalid: text must be UTF-8 (f.yaml:1:4)");
  EXPECT_NE(Problem("\xc3: 1\n"), "no error");
  EXPECT_EQ(Good("a: \"\\xff\"\n").Find("a")->text, "\u00ff");
}

TEST(Yaml, HasLimits) {
  EXPECT_EQ(Problem("a: 12", {.max_bytes = 4}),
            "yaml.too_large: expected at most 4 bytes of YAML, found 5 (f.yaml)");
  EXPECT_EQ(Problem("[[[1]]]", {.max_depth = 2}),
            "yaml.invalid: lists and maps are nested more than 2 deep (f.yaml:1:3)");
  EXPECT_EQ(Problem("[1, 2, 3]", {.max_nodes = 3}),
            "yaml.invalid: more than 3 values (f.yaml:1:8)");
  EXPECT_NE(Problem(std::string(100'000, '[')), "no error");
}

TEST(Yaml, AliasesCountWhatTheyStandFor) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    bomb += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
  }
  EXPECT_NE(Problem(bomb).find("more than 100000 values"), std::string::npos);
}

}  // namespace
}  // namespace sluice::yaml
