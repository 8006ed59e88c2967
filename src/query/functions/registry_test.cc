#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "query/functions/function.h"

namespace sluice::query {
namespace {

TEST(Registry, EveryFunctionIsInTheReference) {
  std::ifstream file("docs/reference/sqlpp.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  for (const std::string_view name : FunctionNames()) {
    std::string upper(name);
    std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
    EXPECT_NE(page.find(upper), std::string::npos) << upper;
  }
}

}  // namespace
}  // namespace sluice::query
