// The command line may not include the query engine; that it completes what the engine has is
// checked here, where both are known.
#include "cli/sql_words.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "query/functions/aggregate.h"
#include "query/functions/function.h"

namespace sluice::server {
namespace {

std::string InCase(std::string_view word, int (*convert)(int)) {
  std::string text(word);
  std::ranges::transform(text, text.begin(), [&](unsigned char c) { return convert(c); });
  return text;
}

TEST(SqlWords, AreSorted) {
  EXPECT_TRUE(std::ranges::is_sorted(cli::SqlKeywords()));
  EXPECT_TRUE(std::ranges::is_sorted(cli::SqlFunctions()));
}

TEST(SqlWords, EveryFunctionIsCompleted) {
  for (const std::string_view name : query::FunctionNames()) {
    if (query::FindFunction(name)->name != name) continue;  // another name of the same
    EXPECT_TRUE(std::ranges::binary_search(cli::SqlFunctions(), InCase(name, std::toupper)))
        << name;
  }
}

TEST(SqlWords, EveryCompletedFunctionIsThere) {
  for (const std::string_view word : cli::SqlFunctions()) {
    const std::string name = InCase(word, std::tolower);
    EXPECT_TRUE(query::FindFunction(name) != nullptr || query::FindAggregate(name) != nullptr ||
                query::IsWindowFunction(name) || name == "meta")
        << name;
  }
}

}  // namespace
}  // namespace sluice::server
