#include "cli/sql_splitter.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "line:column text" of every statement, the one without an end last and marked with '+'.
std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> found;
  SqlSplitter splitter;
  const auto add = [&](const SqlStatement& statement, std::string_view mark) {
    found.push_back(std::to_string(statement.line) + ":" + std::to_string(statement.column) + " " +
                    statement.text + std::string(mark));
  };
  while (!text.empty()) {  // line by line, as the shell does
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    splitter.Feed(text.substr(0, end));
    text.remove_prefix(end);
    while (const auto statement = splitter.Next()) add(*statement, "");
  }
  if (const auto statement = splitter.Finish()) add(*statement, "+");
  return found;
}

TEST(SqlSplitter, SemicolonsEndStatements) {
  EXPECT_THAT(Split("SELECT 1; SELECT 2;\nSELECT 3"),
              ElementsAre("1:1 SELECT 1", "1:11 SELECT 2", "2:1 SELECT 3+"));
  EXPECT_THAT(Split(";;\n ; \n"), IsEmpty());
  EXPECT_THAT(Split(""), IsEmpty());
}

TEST(SqlSplitter, StatementsSpanLines) {
  EXPECT_THAT(Split("\n  SELECT *\n  FROM shop\n;\nSELECT 2;"),
              ElementsAre("2:3 SELECT *\n  FROM shop", "5:1 SELECT 2"));
}

TEST(SqlSplitter, QuotesHideSemicolons) {
  EXPECT_THAT(Split("SELECT 'a;b', \"c;d\", `e;f`; SELECT 2;"),
              ElementsAre("1:1 SELECT 'a;b', \"c;d\", `e;f`", "1:29 SELECT 2"));
  EXPECT_THAT(Split(R"(SELECT 'it''s;', "a\";b", 'a\\'; SELECT 2)"),
              ElementsAre(R"(1:1 SELECT 'it''s;', "a\";b", 'a\\')", "1:34 SELECT 2+"));
  EXPECT_THAT(Split("SELECT 'two\nlines;'; SELECT 2;"),
              ElementsAre("1:1 SELECT 'two\nlines;'", "2:10 SELECT 2"));
}

TEST(SqlSplitter, CommentsHideSemicolonsAndQuotes) {
  EXPECT_THAT(Split("-- don't; stop\nSELECT 1 -- one; two\n, 2;/* ; ' */ SELECT 3;"),
              ElementsAre("2:1 SELECT 1 -- one; two\n, 2", "3:15 SELECT 3"));
  EXPECT_THAT(Split("/* only\n a comment */ -- and another\n;"), IsEmpty());
}

TEST(SqlSplitter, DollarsEndStatements) {
  EXPECT_THAT(Split("SELECT 1 $$ SELECT '$$', $1, $name; SELECT 3$$"),
              ElementsAre("1:1 SELECT 1", "1:13 SELECT '$$', $1, $name", "1:37 SELECT 3"));
}

TEST(SqlSplitter, ProcedureBodiesEndWithDollars) {
  EXPECT_THAT(
      Split("create or replace procedure p version '1;2' {\n  -- don't\n  a = {1; 2};\n}$$\n"
            "SELECT {\"a\": 1}; SELECT 2;"),
      ElementsAre("1:1 create or replace procedure p version '1;2' {\n  -- don't\n  a = {1; "
                  "2};\n}",
                  "5:1 SELECT {\"a\": 1}", "5:18 SELECT 2"));
  EXPECT_THAT(Split("CREATE FUNCTION f(a) { a + 1 }; SELECT 1;"),
              ElementsAre("1:1 CREATE FUNCTION f(a) { a + 1 }", "1:33 SELECT 1"));
}

TEST(SqlSplitter, ProcedureBodiesEndWithTheirBrace) {
  EXPECT_THAT(Split("CREATE PROCEDURE p {local t = {1; 2} -- }\n"
                    "local a, b = '}', \"\\\"}\"; --[[ } ]] local c = [==[ }]] ]==]}; "
                    "PUT DEFAULT PROCEDURE p 1; SELECT 2"),
              ElementsAre("1:1 CREATE PROCEDURE p {local t = {1; 2} -- }\n"
                          "local a, b = '}', \"\\\"}\"; --[[ } ]] local c = [==[ }]] ]==]}",
                          "2:62 PUT DEFAULT PROCEDURE p 1", "2:89 SELECT 2+"));
  // One that does not end, only `$$` ends.
  EXPECT_THAT(Split("CREATE PROCEDURE p { local t = {; $$ SELECT 1;"),
              ElementsAre("1:1 CREATE PROCEDURE p { local t = {;", "1:38 SELECT 1"));
}

TEST(SqlSplitter, ColumnsAreCharacters) {
  EXPECT_THAT(Split("SELECT 'grün'; SELECT 2;"), ElementsAre("1:1 SELECT 'grün'", "1:16 SELECT 2"));
}

TEST(SqlSplitter, TellsWhetherAnEndIsMissing) {
  SqlSplitter splitter;
  EXPECT_FALSE(splitter.waiting());
  splitter.Feed("-- a comment\n\n");
  EXPECT_FALSE(splitter.Next());
  EXPECT_FALSE(splitter.waiting());
  splitter.Feed("SELECT '\n");
  EXPECT_FALSE(splitter.Next());
  EXPECT_TRUE(splitter.waiting());
  splitter.Clear();
  EXPECT_FALSE(splitter.waiting());
  splitter.Feed("SELECT 1;\n");
  const auto statement = splitter.Next();
  ASSERT_TRUE(statement);
  EXPECT_EQ(statement->text, "SELECT 1");
  EXPECT_EQ(statement->line, 4u);
  EXPECT_FALSE(splitter.Finish());
}

TEST(SqlSplitter, FirstWordsOfStatements) {
  EXPECT_EQ(FirstWord("begin\nWORK"), "BEGIN");
  EXPECT_EQ(SecondWord("rollback to savepoint s"), "TO");
  EXPECT_EQ(FirstWord("(SELECT 1)"), "");
  EXPECT_EQ(SecondWord("COMMIT"), "");
}

}  // namespace
}  // namespace sluice::cli
