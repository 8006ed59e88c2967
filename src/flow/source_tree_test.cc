#include "flow/source_tree.h"

#include <gtest/gtest.h>

#include "flow/settings.h"

namespace sluice::flow {
namespace {

// Sixteen levels of three references each, that end in nothing: forty million of them.
TEST(SourceTree, ReferencesToReferencesAreBounded) {
  json::Value config = json::Value::EmptyObject();
  config.Set("c15", json::Value(""));
  for (int i = 0; i < 15; ++i) {
    const std::string next = fmt::format("${{c{}}}", i + 1);
    config.Set(fmt::format("c{}", i), json::Value(next + next + next));
  }
  const FixedSettings settings({}, config);
  Problems problems;
  EXPECT_EQ(ReplaceVariables("${c0}", {"sluice.yaml", 1, 1}, settings, &problems), "");
  ASSERT_EQ(problems.errors(), 1u);
  EXPECT_EQ(problems.Sorted()[0].status.id(), "flow.too_large");
}

}  // namespace
}  // namespace sluice::flow
