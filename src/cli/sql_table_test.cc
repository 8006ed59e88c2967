#include "cli/sql_table.h"

#include <gtest/gtest.h>

#include "cli/text_width.h"
#include "json/parse.h"

namespace sluice::cli {
namespace {

std::string Table(std::string_view rows, std::string_view signature = "{}",
                  const SqlTableOptions& options = {}) {
  return SqlTable(json::Parse(rows).value(), json::Parse(signature).value(), options);
}

TEST(SqlTable, ColumnsAreTheUnionOfFields) {
  EXPECT_EQ(Table(R"([{"name":"a","n":1},{"name":"bcdef","tags":["x"],"n":20},{"n":null}])"),
            "name      n  tags\n"
            "-----  ----  -----\n"
            "a         1\n"
            "bcdef    20  [\"x\"]\n"
            "       null\n");
}

TEST(SqlTable, TheSignatureGivesTheOrder) {
  EXPECT_EQ(Table(R"([{"a":1,"b":2}])", R"({"b":"json","a":"json"})"),
            "b  a\n"
            "-  -\n"
            "2  1\n");
  EXPECT_EQ(Table("[]", R"({"b":"json","a":"json"})"), "b  a\n-  -\n");
}

TEST(SqlTable, StarLaysOutDocuments) {
  EXPECT_EQ(Table(R"([{"shop":{"a":1}},{"shop":{"b":"x"}}])", R"({"*":"*"})"),
            "a  b\n"
            "-  -\n"
            "1\n"
            "   x\n");
  EXPECT_EQ(Table(R"([{"u":{"a":1},"o":{"a":"z"}}])", R"({"*":"*"})"),
            "u.a  o.a\n"
            "---  ---\n"
            "  1  z\n");
  EXPECT_EQ(Table(R"([{"shop":{"a":1}}])", R"({"shop":"json"})"),
            "shop\n"
            "-------\n"
            "{\"a\":1}\n");
}

TEST(SqlTable, OtherRowsAreOneColumn) {
  EXPECT_EQ(Table(R"([1,"two",{"a":3},null])", R"("json")"),
            "value\n"
            "-------\n"
            "      1\n"
            "two\n"
            "{\"a\":3}\n"
            "null\n");
}

TEST(SqlTable, WideCharactersAndLongCells) {
  EXPECT_EQ(Table(R"([{"city":"東京","n":1},{"city":"Köln","n":2}])"),
            "city  n\n"
            "----  -\n"
            "東京  1\n"
            "Köln  2\n");
  EXPECT_EQ(Table(R"([{"a":"abcdefgh","b":"東京都"}])", "{}", {.max_cell_width = 5}),
            "a      b\n"
            "-----  -----\n"
            "abcd…  東京…\n");
}

TEST(SqlTable, DataCantDriveTheTerminal) {
  EXPECT_EQ(Table("[{\"\\u001b[31m\":\"\\u001b[0m\"}]"),
            "\\x1b[31m\n"
            "--------\n"
            "\\x1b[0m\n");
}

TEST(TextWidth, CountsColumns) {
  EXPECT_EQ(TextWidth("abc"), 3u);
  EXPECT_EQ(TextWidth("ä"), 1u);
  EXPECT_EQ(TextWidth("a\u0301"), 1u);
  EXPECT_EQ(TextWidth("한글"), 4u);
  EXPECT_EQ(TextWidth("😀"), 2u);
  EXPECT_EQ(CutToWidth("abc", 3), "abc");
  EXPECT_EQ(CutToWidth("abcd", 3), "ab…");
}

}  // namespace
}  // namespace sluice::cli
