#include "cli/sql_answer.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/sql_complete.h"
#include "cli/sql_help.h"
#include "json/parse.h"

namespace sluice::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

SqlAnswer Read(std::string_view done, const SqlStatement& statement = {},
               const std::string& file = "") {
  return ReadSqlAnswer(json::Parse(done).value(), statement, file);
}

TEST(SqlAnswer, Success) {
  const SqlAnswer answer = Read(R"({"warnings":[{"code":1,"msg":"careful"}],"status":"success",
      "metrics":{"resultCount":1}})");
  EXPECT_EQ(answer.metrics["resultCount"], json::Value(1));
  EXPECT_THAT(answer.warnings, ElementsAre("careful"));
  EXPECT_THAT(answer.errors, IsEmpty());
}

TEST(SqlAnswer, ErrorsPointIntoTheFile) {
  const SqlStatement statement{.text = "SELECT 1,\n  grün 2", .line = 4, .column = 3};
  const auto answer = Read(R"({"errors":[{"code":3000,"msg":"syntax error",
      "id":"query.syntax","line":2,"column":8}],"status":"fatal"})",
                           statement, "a.sql");
  ASSERT_EQ(answer.errors.size(), 1u);
  std::ostringstream out, err;
  Output(out, err).Problem(answer.errors[0]);
  EXPECT_EQ(err.str(),
            "error: a.sql:5:8: syntax error [3000] (query.syntax)\n"
            "    grün 2\n"
            "         ^\n");
  EXPECT_EQ(ExitCodeOf(answer.errors[0]), ExitCode::kInvalidData);
}

TEST(SqlAnswer, ColumnsOfTheFirstLineAreThoseOfTheFile) {
  const auto answer = Read(R"({"errors":[{"code":12003,"msg":"m",
      "line":1,"column":15}],"status":"fatal"})",
                           {.text = "SELECT 1 FROM x", .line = 2, .column = 11});
  EXPECT_EQ(answer.errors[0].place().line, 2u);
  EXPECT_EQ(answer.errors[0].place().column, 25u);
  EXPECT_EQ(ExitCodeOf(answer.errors[0]), ExitCode::kNotFound);
}

TEST(SqlAnswer, ALineOfAProcedureIsNoneOfTheFile) {
  const auto answer = Read(R"({"errors":[{"code":5000,"msg":"procedure 'p': p:9: no","line":9,
      "column":0,"procedure":"p","reason":{"returned":"-201"}}],"status":"errors"})",
                           {.text = "EXEC PROCEDURE p()", .line = 2, .column = 1}, "a.sql");
  EXPECT_EQ(answer.errors[0].place().line, 2u);
  EXPECT_EQ(answer.errors[0].fields().at("returned"), "-201");
}

TEST(SqlAnswer, AnEndWithoutSuccessIsAnError) {
  EXPECT_EQ(Read(R"({"status":"stopped"})").errors.size(), 1u);
  EXPECT_EQ(Read("{}").errors.size(), 1u);
}

TEST(SqlAnswer, ExcerptsMarkTheColumn) {
  EXPECT_EQ(Excerpt("SELEC 1", 1, 1), "  SELEC 1\n  ^");
  EXPECT_EQ(Excerpt("a\n\tb c", 2, 4), "   b c\n     ^");
  EXPECT_EQ(Excerpt("東 x", 1, 3), "  東 x\n     ^");
  EXPECT_EQ(Excerpt("ab", 1, 3), "  ab\n    ^");  // at the end of the text
  EXPECT_EQ(Excerpt("ab", 2, 1), "");
  EXPECT_EQ(Excerpt("ab", 1, 0), "");
}

TEST(SqlCompletions, KeywordsInTheCaseOfWhatIsTyped) {
  EXPECT_THAT(SqlCompletions("SELE", {}, ""), ElementsAre("SELECT"));
  EXPECT_THAT(SqlCompletions("select * fro", {}, ""), ElementsAre("from"));
  EXPECT_THAT(SqlCompletions("SELECT (ARRAY_AV", {}, ""), ElementsAre("ARRAY_AVG("));
  EXPECT_THAT(SqlCompletions("SELECT ", {}, ""), IsEmpty());
}

TEST(SqlCompletions, KeyspacesAlsoInTheContext) {
  const std::vector<std::string> keyspaces = {"shop", "shop.stock.items", "other"};
  EXPECT_THAT(SqlCompletions("SELECT * FROM sh", keyspaces, ""),
              ElementsAre("shop", "shop.stock.items"));
  EXPECT_THAT(SqlCompletions("SELECT * FROM ite", keyspaces, "shop.stock"), ElementsAre("items"));
  EXPECT_THAT(SqlCompletions("\\d o", keyspaces, ""), ElementsAre("other"));
}

TEST(SqlCompletions, TheShellsCommands) {
  EXPECT_THAT(SqlCompletions("\\t", {}, ""), ElementsAre("\\timing"));
  EXPECT_THAT(SqlCompletions("\\o l", {}, ""), ElementsAre("lines"));
  EXPECT_THAT(SqlCompletions("\\h sel", {}, ""), ElementsAre("select", "self"));
}

TEST(SqlCompletions, Contexts) {
  EXPECT_TRUE(CheckSqlContext("").ok());
  EXPECT_TRUE(CheckSqlContext("shop.stock").ok());
  EXPECT_EQ(CheckSqlContext("shop.stock.items").id(), "cli.invalid_name");
  EXPECT_EQ(CheckSqlContext("a b").id(), "cli.invalid_name");
}

TEST(SqlHelp, FindsStatements) {
  EXPECT_THAT(SqlSyntaxHelp(""), HasSubstr("\nCREATE INDEX\n"));
  EXPECT_EQ(SqlSyntaxHelp("commit"), "COMMIT\n");
  EXPECT_THAT(SqlSyntaxHelp("create"), HasSubstr("CREATE BUCKET name"));
  EXPECT_EQ(SqlSyntaxHelp("nonsense"), "");
}

}  // namespace
}  // namespace sluice::cli
