#include "function/recursion.h"

#include <gtest/gtest.h>

namespace sluice::function {
namespace {

DataFlow Flow(const std::string& function, const std::string& source,
              const std::vector<std::string>& targets, bool writes_source = false) {
  DataFlow flow{.function = function, .source = {.bucket = source}};
  for (const std::string& target : targets) flow.targets.push_back({.bucket = target});
  flow.writes_source = writes_source;
  return flow;
}

TEST(Recursion, ACycleIsFoundWithItsFunctions) {
  const std::vector<DataFlow> deployed = {Flow("ab", "a", {"b", "x"}), Flow("bc", "b", {"y", "c"})};
  EXPECT_TRUE(CheckRecursion(Flow("cd", "c", {"d"}), deployed).ok());
  const Status found = CheckRecursion(Flow("ca", "c", {"d", "a"}), deployed);
  EXPECT_EQ(found.id(), "function.recursion");
  EXPECT_NE(found.message().find("ca -> ab -> bc -> ca"), std::string::npos) << found.message();
}

TEST(Recursion, ACycleOfOthersIsNotTheNewOnes) {
  const std::vector<DataFlow> deployed = {Flow("ab", "a", {"b"}), Flow("ba", "b", {"a"})};
  EXPECT_TRUE(CheckRecursion(Flow("ca", "c", {"a"}), deployed).ok());
}

TEST(Recursion, AFunctionThatIsDeployedAgainIsNotInItsOwnWay) {
  const std::vector<DataFlow> deployed = {Flow("f", "b", {"a"})};
  EXPECT_TRUE(CheckRecursion(Flow("f", "a", {"b"}), deployed).ok());
  EXPECT_FALSE(CheckRecursion(Flow("g", "a", {"b"}), deployed).ok());
}

TEST(Recursion, OnlyOneFunctionChangesASource) {
  const std::vector<DataFlow> deployed = {Flow("f", "a", {}, true)};
  EXPECT_EQ(CheckRecursion(Flow("g", "a", {}, true), deployed).id(), "function.shared_source");
  EXPECT_TRUE(CheckRecursion(Flow("g", "a", {"b"}), deployed).ok());
  EXPECT_TRUE(CheckRecursion(Flow("f", "a", {}, true), deployed).ok());
}

TEST(Recursion, PatternsMeetWhatTheyMatch) {
  DataFlow all{.function = "all", .source = {"a", "*", "*"}, .targets = {{"b", "s", "*"}}};
  const DataFlow back{.function = "back", .source = {"b", "s", "c"}, .targets = {{"a", "t", "d"}}};
  EXPECT_EQ(CheckRecursion(all, std::vector{back}).id(), "function.recursion");
  EXPECT_EQ(CheckRecursion(back, std::vector{all}).id(), "function.recursion");
  DataFlow aside = back;
  aside.source.scope = "other";
  EXPECT_TRUE(CheckRecursion(all, std::vector{aside}).ok());
  // Its own writes it does not hear, by whatever name it makes them.
  all.targets = {{"a", "s", "*"}};
  all.writes_source = true;
  EXPECT_TRUE(CheckRecursion(all, {}).ok());
  const DataFlow one{.function = "one", .source = {"a", "s", "c"}, .writes_source = true};
  EXPECT_EQ(CheckRecursion(one, std::vector{all}).id(), "function.shared_source");
}

TEST(Recursion, BindingsAndStatementsTellWhereWritesGo) {
  Definition definition;
  definition.name = "f";
  definition.source = {.bucket = "src"};
  definition.buckets = {{"own", {.bucket = "src"}, true},
                        {"read", {.bucket = "r"}, false},
                        {"some", {"w", "s", "*"}, true},
                        {"dst", {"d", "s", "c"}, true}};
  const auto source = Prepare(
      "function OnUpdate(doc, meta) {\n  UPSERT INTO other (KEY, VALUE) VALUES ('a', 1);\n"
      "  DELETE FROM `d`.`s`.`e`;\n}",
      {});
  ASSERT_TRUE(source.has_value());
  const DataFlow flow = FlowOf(definition, *source);
  const std::vector<db::KeyspaceName> expected = {
      {"w", "s", "*"}, {"d", "s", "c"}, {.bucket = "other"}, {"d", "s", "e"}};
  EXPECT_EQ(flow.targets, expected);
  EXPECT_TRUE(flow.writes_source);
  EXPECT_TRUE(CheckStatements(flow).ok());
}

TEST(Recursion, AStatementCantWriteToTheSource) {
  Definition definition;
  definition.name = "f";
  definition.source = {.bucket = "src"};
  const auto source =
      Prepare("function OnUpdate(doc, meta) {\n  UPDATE src SET a = 1 WHERE b = 2;\n}", {});
  ASSERT_TRUE(source.has_value());
  const Status found = CheckStatements(FlowOf(definition, *source));
  EXPECT_EQ(found.id(), "function.sql_recursion");
  EXPECT_NE(found.message().find("line 2, column 3"), std::string::npos) << found.message();
}

}  // namespace
}  // namespace sluice::function
