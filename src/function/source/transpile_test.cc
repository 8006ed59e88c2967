#include "function/source/transpile.h"

#include <gtest/gtest.h>

namespace sluice::function {
namespace {

constexpr std::string_view kHandler = "function OnUpdate(doc, meta) { log(doc); }\n";

std::string Errors(std::string_view code, const PrepareOptions& options) {
  const auto prepared = Prepare(code, options);
  if (prepared) return "";
  std::string errors;
  for (const Status& error : prepared.error()) errors += error.ToString() + "\n";
  return errors;
}

TEST(PrepareTest, HeadersConstantsAndFooters) {
  const auto plain = Prepare(kHandler, {});
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->text, "'use strict';\n" + std::string(kHandler) + "\n");
  EXPECT_EQ(plain->first_line, 0);

  const auto full = Prepare(kHandler, {.headers = {"'use strict';", "/* a\nb */"},
                                       .footers = {"// end", "function extra() {}"},
                                       .constants = {{"limit", "42 // of all"}, {"f", "x => x"}}});
  ASSERT_TRUE(full.has_value());
  EXPECT_EQ(full->text,
            "'use strict';\n/* a\nb */\nconst limit = 42 // of all\n;\nconst f = x => x\n;\n" +
                std::string(kHandler) + "\n// end\nfunction extra() {}\n");
  EXPECT_EQ(full->first_line, -6);

  const auto bare = Prepare("#!/usr/bin/handler\n" + std::string(kHandler), {.headers = {}});
  ASSERT_TRUE(bare.has_value());
  EXPECT_EQ(bare->text, "///usr/bin/handler\n" + std::string(kHandler) + "\n");
  EXPECT_EQ(bare->first_line, 1);
}

TEST(PrepareTest, LinesStay) {
  const std::string code =
      "function OnUpdate(doc, meta) {\n"
      "  var a = 1; var r = SELECT x\n"
      "    FROM k -- all\n"
      "    WHERE y = $a; for (const row of r) { fail(); }\n"
      "  third();\n"
      "}\n"
      "function OnDelete(meta) { createTimer(Later, new Date(), null); }\n"
      "function Later() {}\n";
  const auto prepared = Prepare(code, {.consistency = SqlConsistency::kRequest});
  ASSERT_TRUE(prepared.has_value());
  EXPECT_EQ(prepared->text,
            "'use strict';\n"
            "function OnUpdate(doc, meta) {\n"
            "  var a = 1; var r = N1QL('SELECT x\\n' +\n"
            "'    FROM k       \\n' +\n"
            "'    WHERE y = $a', {'$a': a}, {'consistency': 'request'}); for (const row of r) { "
            "fail(); }\n"
            "  third();\n"
            "}\n"
            "function OnDelete(meta) { createTimer(Later, new Date(), null); }\n"
            "function Later() {}\n"
            "\n");
  EXPECT_EQ(prepared->facts.entry_points, (EntryPoints{.on_update = true, .on_delete = true}));
  EXPECT_EQ(prepared->facts.functions, (std::vector<std::string>{"OnUpdate", "OnDelete", "Later"}));
  EXPECT_EQ(prepared->facts.timer_callbacks, (std::set<std::string>{"Later"}));
  ASSERT_EQ(prepared->statements.size(), 1U);
  EXPECT_EQ(prepared->statements[0].place, (SourcePlace{2, 22}));
}

// The place of `word` in a text whose first line has the number `line`.
SourcePlace PlaceOf(std::string_view text, std::string_view word, uint32_t line = 1) {
  return PlaceAfter({.line = line, .column = 1}, text.substr(0, text.find(word)));
}

TEST(PrepareTest, ColumnsAreMapped) {
  const std::string code =
      "function OnUpdate() { one(); var r = SELECT 'x'; two(SELECT $a, 2); three(SELECT 1\n"
      "  + 3); four();\n"
      "  five(); }";
  const auto prepared = Prepare(code, {.headers = {}});
  ASSERT_TRUE(prepared.has_value());
  for (const std::string_view word : {"one", "two", "three", "four", "five"}) {
    EXPECT_EQ(prepared->columns.ToUser(PlaceOf(prepared->text, word)), PlaceOf(code, word)) << word;
  }
  // Anywhere in a call is where its statement begins.
  EXPECT_EQ(prepared->columns.ToUser(PlaceOf(prepared->text, "N1QL('SELECT $a")),
            PlaceOf(code, "SELECT $a"));
  EXPECT_EQ(prepared->columns.ToUser(PlaceOf(prepared->text, "{'$a'")), PlaceOf(code, "SELECT $a"));
}

TEST(PrepareTest, AllErrorsAtOnce) {
  EXPECT_EQ(Errors("var a;\nfunction OnUpdate() { SELECT x FORM y; eval(1) }",
                   {.headers = {"eval(1);", "'"}, .constants = {{"c", "1;"}}}),
            "function.eval: handler_headers: code can't be made of strings, but found: eval. Write "
            "the function out; use JSON.parse() for data\n"
            "function.syntax: handler_headers: syntax error: the string has no end: expected ' on "
            "the same line\n"
            "function.constant: the constant binding 'c' must be one JavaScript expression: found "
            ";\n"
            "function.top_level: Only functions allowed in global space, but found: var a;. "
            "Declare it inside a function, keep state in a document, or make it a constant binding "
            "(line:1:1)\n"
            "function.sql_syntax: embedded SQL++: syntax error - line 2, column 37, near 'SELECT x "
            "FORM ', at: y; expected the end of the statement (did you mean FROM?) (line:2:37)\n"
            "function.eval: code can't be made of strings, but found: eval. Write the function "
            "out; use JSON.parse() for data (line:2:40)\n");
}

TEST(PrepareTest, TextThatIsNone) {
  EXPECT_EQ(Errors("function OnUpdate() {} // \xff", {}),
            "function.syntax: the handler is not valid UTF-8\n");
  EXPECT_EQ(Errors(std::string(kMaxCodeBytes + 1, ' '), {}),
            "function.too_large: the handler has 1048577 bytes; the most is 1048576\n");
}

TEST(PrepareTest, NamesOfBindings) {
  const std::string code = "function OnUpdate() { x = select * from `y`; }\nfunction dst() {}\n";
  EXPECT_NE(Errors(code, {.bindings = {"dst"}}).find("function.name_taken"), std::string::npos);
  EXPECT_NE(Errors(code, {.constants = {{"dst", "1"}}}).find("name_taken"), std::string::npos);
  const auto sql = Prepare(code, {});
  ASSERT_TRUE(sql.has_value());
  EXPECT_EQ(sql->statements.size(), 1U);
  const auto javascript = Prepare(code, {.bindings = {"from", "select"}});
  ASSERT_TRUE(javascript.has_value());
  EXPECT_EQ(javascript->statements.size(), 0U);
}

TEST(ConstantTest, Expressions) {
  const std::string_view good[] = {
      "1",
      "'text; more'",
      "-1",
      "[1, 2]",
      "{\"a\": 1, \"b\": {\"c\": []}}",
      "a ? b : c",
      "function(a, b) { var c = a; return c; }",
      "function name() {}",
      "(a, b) => { return a + b; }",
      "x => x",
      "class { m() {} }",
      "class A extends B { }",
      "new Map()",
      "/re;/g",
      "`a ${b}; c`",
      "1 // why",
      "1 /* why */",
      "typeof a in b",
      "function() {\n  return 1;\n}",
  };
  for (const std::string_view literal : good) {
    EXPECT_TRUE(CheckConstant({"c", std::string(literal)}).ok())
        << literal << CheckConstant({"c", std::string(literal)}).message();
  }
}

TEST(ConstantTest, WhatIsNone) {
  const struct {
    std::string_view literal;
    std::string_view problem;
  } cases[] = {
      {"", "found nothing; a text needs quotes, as in \"text\""},
      {"// a", "found nothing; a text needs quotes, as in \"text\""},
      {"1;", "found ;"},
      {"1; var x = 2", "found ;"},
      {"1, x = 2", "found , outside of brackets"},
      {"1 2", "found 2 after the end of the expression"},
      {"hello world", "found world after the end of the expression"},
      {"1\nfoo()", "found foo after the end of the expression"},
      {"1\n{}", "found { after the end of the expression"},
      {"var x", "found the keyword var"},
      {"if (a) b", "found the keyword if"},
      {"return 1", "found the keyword return"},
      {"'text", "the string has no end: expected ' on the same line"},
      {"(1", "the bracket has no end: expected )"},
      {"1)", "the bracket closes nothing"},
      {"1) + (2", "a bracket closes nothing"},
      {"1 +", "it is not complete"},
      {"/* a", "the comment has no end: expected */"},
  };
  for (const auto& c : cases) {
    const Status status = CheckConstant({"c", std::string(c.literal)});
    EXPECT_EQ(
        status.message(),
        fmt::format("the constant binding 'c' must be one JavaScript expression: {}", c.problem))
        << c.literal;
  }
  for (const std::string name : {"1a", "a-b", "", "class", "a b"}) {
    EXPECT_EQ(CheckConstant({name, "1"}).id(), "function.constant") << name;
  }
}

}  // namespace
}  // namespace sluice::function
