// Runs tests/query/*.test.
#include "query/text_cases.h"

#include <gtest/gtest.h>

#include "db/test_database.h"
#include "query/index_compiler.h"

namespace sluice::query {
namespace {

class TextCases : public ::testing::TestWithParam<std::string> {};

TEST_P(TextCases, AnswerAsWritten) {
  const db::TestDirectory directory;
  const FakeClock clock;
  db::DatabaseOptions options;
  options.index_compiler = MakeIndexCompiler();
  auto database = db::Database::Open(directory / "data", options, clock);
  ASSERT_TRUE(database) << database.error().ToString();
  QueryEngine engine(**database, {});
  RunTextCases(engine, "tests/query/" + GetParam() + ".test");
}

INSTANTIATE_TEST_SUITE_P(Query, TextCases, ::testing::ValuesIn(TextCaseFiles("tests/query")),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace sluice::query
