// Runs tests/procedures/*.test, which are written as those of tests/query.
#include "query/text_cases.h"

#include <gtest/gtest.h>

#include "db/test_database.h"
#include "procedure/manager.h"
#include "query/index_compiler.h"

namespace sluice::procedure {
namespace {

class ProcedureTextCases : public ::testing::TestWithParam<std::string> {};

TEST_P(ProcedureTextCases, AnswerAsWritten) {
  const db::TestDirectory directory;
  const FakeClock clock;
  db::DatabaseOptions options;
  options.index_compiler = query::MakeIndexCompiler();
  auto database = db::Database::Open(directory / "data", options, clock);
  ASSERT_TRUE(database) << database.error().ToString();
  query::QueryEngine engine(**database, {});
  Manager manager(engine, {});
  ASSERT_TRUE(manager.Start().ok());
  query::RunTextCases(engine, "tests/procedures/" + GetParam() + ".test");
}

INSTANTIATE_TEST_SUITE_P(Procedures, ProcedureTextCases,
                         ::testing::ValuesIn(query::TextCaseFiles("tests/procedures")),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace sluice::procedure
