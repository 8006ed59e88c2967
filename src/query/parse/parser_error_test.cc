// What a syntax error says, and that no text overflows the stack.
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "query/error.h"
#include "query/parse/parser.h"

namespace sluice::query {
namespace {

// The message behind "syntax error - line L, column C, near '...', ".
std::string ErrorOf(const std::string& text) {
  const auto statement = ParseStatement(text);
  if (statement) return "no error: " + ToText(*statement);
  EXPECT_EQ(CodeOf(statement.error()), QueryCode::kSyntax) << text;
  const std::string& message = statement.error().message();
  const size_t at = message.rfind("at: ");
  return at == std::string::npos ? message : message.substr(at);
}

TEST(SyntaxErrors, SayWhereAndNearWhat) {
  const auto statement = ParseStatement("SELECT é,\n  b c d FROM x");
  ASSERT_FALSE(statement.has_value());
  EXPECT_EQ(statement.error().message(),
            "syntax error - line 1, column 8, near 'SELECT ', at: é; a name with other letters "
            "than A-Z goes in back quotes");
  const auto second = ParseStatement("SELECT 'é' a,\n  b c d FROM x");
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().message(),
            "syntax error - line 2, column 7, near 'SELECT 'é' a,\n  b c ', at: d; "
            "expected the end of the statement");
  EXPECT_EQ(second.error().place().line, 2U);
  EXPECT_EQ(second.error().place().column, 7U);
}

using Cases = std::vector<std::pair<const char*, const char*>>;

void ExpectErrors(const Cases& cases) {
  for (const auto& [text, message] : cases) EXPECT_EQ(ErrorOf(text), message) << text;
}

TEST(SyntaxErrors, OfWords) {
  ExpectErrors({
      {"", "at: the end of the statement; expected a statement, such as SELECT"},
      {" ;", "at: ;; expected a statement, such as SELECT, INSERT, UPDATE or CREATE"},
      {"SELCT 1", "at: SELCT; expected a statement; did you mean SELECT?"},
      {"slect 1", "at: slect; expected a statement; did you mean SELECT?"},
      {"UPSET INTO k", "at: UPSET; expected a statement; did you mean UPSERT?"},
      {"hello", "at: hello; expected a statement, such as SELECT, INSERT, UPDATE or CREATE"},
      {"SELECT", "at: the end of the statement; expected an expression"},
      {"SELECT a +", "at: the end of the statement; expected an expression"},
      {"SELECT FROM x",
       "at: FROM; expected an expression (FROM is a reserved word; as a name it goes in back "
       "quotes: `FROM`)"},
      {"SELECT a AS value",
       "at: value; expected the name of an alias (value is a reserved word; as a name it goes in "
       "back quotes: `value`)"},
      {"SELECT a FORM x", "at: x; expected the end of the statement (did you mean FROM?)"},
      {"SELECT * FORM x", "at: FORM; expected the end of the statement (did you mean FROM?)"},
      {"SELECT a FROM x WERE b", "at: b; expected the end of the statement (did you mean WHERE?)"},
  });
}

TEST(SyntaxErrors, OfExpressions) {
  ExpectErrors({
      {"SELECT a = b = c",
       "at: =; comparisons can't follow one another: put one in parentheses, or say AND between"},
      {"SELECT 1 < a <= 2",
       "at: <=; comparisons can't follow one another: put one in parentheses, or say AND between"},
      {"SELECT a LIKE b LIKE c",
       "at: LIKE; comparisons can't follow one another: put one in parentheses, or say AND "
       "between"},
      {"SELECT a BETWEEN 1 OR 2", "at: OR; expected AND and the upper bound of BETWEEN"},
      {"SELECT a IS b",
       "at: b; expected NULL, MISSING, VALUED, KNOWN, UNKNOWN or DISTINCT FROM after IS"},
      {"SELECT 1; SELECT 2",
       "at: SELECT; expected nothing after the semicolon: one statement at a time"},
      {"SELECT 1 2", "at: 2; expected the end of the statement"},
      {"SELECT (1", "at: the end of the statement; expected )"},
      {"SELECT [1", "at: the end of the statement; expected a comma or ]"},
      {"SELECT {'a' 1}", "at: 1; expected a colon and a value: only a path names its own field"},
      {"SELECT {f(x)}", "at: }; expected a colon and a value: only a path names its own field"},
      {"SELECT f(1", "at: the end of the statement; expected a comma or )"},
      {"SELECT sum(*)", "at: *; only COUNT can be called with *"},
      {"SELECT a.b(1)", "at: (; a function's name has no path before it"},
      {"SELECT a.", "at: the end of the statement; expected a field's name or [ after the dot"},
      {"SELECT a[]", "at: ]; expected an index, start:end or * in []"},
      {"SELECT 1 + a.*", "at: .; expected parentheses around the expression before .*"},
      {"SELECT CASE a END", "at: END; expected WHEN"},
      {"SELECT ARRAY a FOR b IN c", "at: the end of the statement; expected a comma, WHEN or END"},
      {"SELECT ANY a c", "at: c; expected IN or WITHIN"},
      {"SELECT rank() RESPECT NULLS",
       "at: RESPECT; only FIRST_VALUE, LAST_VALUE, NTH_VALUE, LAG and LEAD take it"},
      {"SELECT sum(a) OVER (ROWS 1 FOLLOWING)", "at: 1; the frame would end before it begins"},
  });
}

TEST(SyntaxErrors, OfTokens) {
  ExpectErrors({
      {"SELECT 'abc", "at: 'abc; the string has no end: expected '"},
      {"SELECT `abc", "at: `abc; the name has no end: expected `"},
      {"SELECT /* abc", "at: /*; the comment has no end: expected */"},
      {R"(SELECT "a\d")",
       R"(at: \d; a string knows \" \' \\ \/ \b \f \n \r \t and \uXXXX; write \\ for \)"},
      {R"(SELECT "\u12G4")",
       R"(at: \u; a string knows \" \' \\ \/ \b \f \n \r \t and \uXXXX; write \\ for \)"},
      {"SELECT 01", "at: 01; a number can't start with 0"},
      {"SELECT 1.", "at: 1; a number has digits after its point and its exponent"},
      {"SELECT 12ab", "at: 12ab; a name can't start with a digit, unless it is in back quotes"},
      {"SELECT #", "at: #; no statement has such a character outside of strings"},
      {"SELECT ??", "at: ??; ?? (any element) is not supported"},
      {"SELECT $", "at: $; a parameter has a name or a number: $name, $1"},
      {"SELECT $0",
       "at: $0; a parameter's number is 1 to 65535; a name does not start with a digit"},
      {"SELECT $1a",
       "at: $1a; a parameter's number is 1 to 65535; a name does not start with a digit"},
      {"SELECT ``", "at: ``; a name can't be empty"},
      {"SELECT a AS `b`i", "at: `b`i; only a name that is looked up can be in any case"},
  });
}

TEST(SyntaxErrors, OfClausesAndStatements) {
  ExpectErrors({
      {"SELECT * FROM a JOIN b",
       "at: the end of the statement; expected ON and the condition of the join"},
      {"SELECT * FROM a RIGHT UNNEST b", "at: RIGHT; only a JOIN can be RIGHT"},
      {"SELECT * FROM a USE b", "at: b; expected KEYS, INDEX, HASH or NL after USE"},
      {"SELECT * FROM a USE INDEX (i USING FTS)",
       "at: FTS; there are no full-text indexes: expected GSI"},
      {"FROM a WHERE b", "at: the end of the statement; expected SELECT, as FROM came first"},
      {"WITH a AS SELECT 1", "at: SELECT; expected ("},
      {"WITH a AS (1) OPTIONS {b} SELECT 1", "at: {; expected an object, of constants"},
      {"INSERT INTO k", "at: the end of the statement; expected VALUES"},
      {"INSERT INTO k (1) VALUES (1, 2)", "at: (; expected VALUES or (KEY ..., VALUE ...)"},
      {"INSERT INTO k VALUES ()", "at: ); expected an expression"},
      {"UPDATE k WHERE a", "at: WHERE; expected SET or UNSET"},
      {"UPDATE k SET 1 = 2", "at: 1; expected the path of a field, or META().expiration"},
      {"UPDATE k SET f(a) = 2", "at: f; expected the path of a field, or META().expiration"},
      {"DELETE k", "at: k; expected FROM"},
      {"MERGE INTO t USING s ON KEY a WHEN NOT MATCHED THEN INSERT (KEY b, VALUE c)",
       "at: (; ON KEY already gives the key: expected only the document"},
      {"MERGE INTO t USING s ON a WHEN NOT MATCHED THEN INSERT b",
       "at: b; expected (KEY ..., VALUE ...)"},
      {"CREATE VIEW t", "at: VIEW; views are not supported: use WITH, or a subquery in FROM"},
      {"CREATE SOMETHING t",
       "at: SOMETHING; expected BUCKET, SCOPE, COLLECTION, TABLE, INDEX or PRIMARY INDEX"},
      {"CREATE INDEX ON k(a)",
       "at: ON; expected the name of the index (ON is a reserved word; as a name it goes in back "
       "quotes: `ON`)"},
      {"CREATE INDEX i ON k(a) WITH 1", "at: 1; expected an object of options"},
      {"ALTER COLLECTION a", "at: the end of the statement; expected WITH and the changes"},
      {"DROP INDEX i", "at: the end of the statement; expected ON"},
      {"EXPLAIN EXPLAIN SELECT 1", "at: EXPLAIN; this statement can't be explained"},
      {"EXECUTE p USING 1", "at: 1; expected [ and positional arguments, or { and named ones"},
      {"PREPARE p SELECT 1", "at: SELECT; expected FROM or AS"},
      {"BEGIN WORK ISOLATION LEVEL READ", "at: READ; expected READ COMMITTED"},
  });
}

std::string Repeat(std::string_view text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

// Whatever can be nested, nested ten thousand times.
TEST(SyntaxErrors, NestingHasALimit) {
  constexpr size_t kDeep = 10000;
  struct Nest {
    const char* open;
    const char* middle;
    const char* close;
  };
  const Nest nests[] = {
      {"(", "1", ")"},
      {"[", "", "]"},
      {"{\"a\": ", "1", "}"},
      {"f(", "1", ")"},
      {"NOT ", "1", ""},
      {"EXISTS ", "1", ""},
      {"- ", "a", ""},
      {"1 - (", "1", ")"},
      {"a = b + (", "1", ")"},
      {"CASE WHEN ", "1", " THEN 1 END"},
      {"CASE ", "1", " WHEN 1 THEN 1 END"},
      {"CASE a WHEN 1 THEN ", "1", " END"},
      {"CASE WHEN 1 THEN 1 ELSE ", "1", " END"},
      {"ANY x IN ", "y", " SATISFIES 1 END"},
      {"ANY x IN y SATISFIES ", "1", " END"},
      {"ARRAY ", "x", " FOR x IN y END"},
      {"FIRST x FOR x IN ", "y", " END"},
      {"OBJECT ", "x", " : 1 FOR x IN y END"},
      {"(SELECT ", "1", ")"},
      {"(SELECT 1 FROM ", "x", " AS y)"},
      {"(SELECT 1 WHERE ", "x", ")"},
      {"(SELECT 1 LIMIT ", "1", ")"},
      {"(WITH a AS (", "1", ") SELECT a)"},
      {"(SELECT 1 UNION ", "(SELECT 2)", ")"},
      {"((SELECT 1) UNION ", "(SELECT 2)", ")"},
      {"(SELECT 1 FROM a JOIN b ON ", "x", ")"},
      {"sum(1) OVER (PARTITION BY ", "1", ")"},
      {"sum(1) OVER (ORDER BY ", "1", ")"},
      {"sum(1) OVER (ROWS ", "1", " PRECEDING)"},
      {"sum(1) FILTER (WHERE ", "1", ")"},
      {"a[", "1", "]"},
      {"a[1:", "2", "]"},
      {"a.[", "b", "]"},
      {"x BETWEEN (", "1", ") AND 2"},
      {"x IN (", "1", ")"},
      {"x LIKE (", "1", ") ESCAPE 2"},
      {"x IS DISTINCT FROM (", "1", ")"},
      // Trees that grow to the left: no recursion reads them, but walking them recurses.
      {"", "a", ".b"},
      {"", "a", "[0]"},
      {"", "a", "[*]"},
      {"", "a", " + 1"},
      {"", "a", " * 1"},
      {"", "a", " IS NULL"},
      {"", "a", " IS DISTINCT FROM 1"},
      {"(", "a", " + 1 + 1 + 1 + 1)"},
      {"(", "a", " AND 1)"},
      {"(", "a", ".b.c.d)"},
  };
  for (const Nest& nest : nests) {
    const auto text = [&](size_t depth) {
      return Repeat(nest.open, depth) + nest.middle + Repeat(nest.close, depth);
    };
    const auto shallow = ParseExpression(text(20));
    EXPECT_TRUE(shallow.has_value()) << text(1) << ": " << shallow.error().message();
    const auto deep = ParseExpression(text(kDeep));
    ASSERT_FALSE(deep.has_value()) << text(1);
    EXPECT_NE(deep.error().message().find("nested too deeply"), std::string::npos)
        << text(1) << ": " << deep.error().message();
    // As deep as it goes, it can be copied, compared and printed.
    size_t deepest = 20;
    for (size_t step = 512; step > 0; step /= 2) {
      if (ParseExpression(text(deepest + step))) deepest += step;
    }
    EXPECT_GE(deepest, 35U) << text(1);
    EXPECT_LE(deepest, static_cast<size_t>(kMaxNesting)) << text(1);
    const auto expression = ParseExpression(text(deepest));
    EXPECT_TRUE(SameExpression(**expression, *Clone(**expression)));
    EXPECT_FALSE(ToText(**expression).empty());
  }
}

TEST(SyntaxErrors, StatementsNestToo) {
  constexpr size_t kDeep = 10000;
  const std::string nests[] = {
      Repeat("(", kDeep) + "SELECT 1" + Repeat(")", kDeep),
      Repeat("(", kDeep) + "SELECT 1" + Repeat(" LIMIT 1)", kDeep),
      "SELECT 1" + Repeat(" UNION SELECT 1", kDeep),
      "UPDATE k SET a = 1" + Repeat(" FOR x IN y", kDeep) + " END",
      "SELECT 1 FROM k AS a" + Repeat(" JOIN (SELECT 1 FROM k AS a", kDeep),
      "CREATE INDEX i ON k(" + Repeat("(", kDeep) + "a" + Repeat(")", kDeep) + ")",
      "CREATE BUCKET b WITH " + Repeat("[", kDeep) + Repeat("]", kDeep),
  };
  for (const std::string& text : nests) {
    EXPECT_NE(ErrorOf(text).find("nested too deeply"), std::string::npos) << text.substr(0, 40);
  }
  EXPECT_EQ(ErrorOf("CREATE BUCKET b WITH {'a': " + Repeat("[", 200) + Repeat("]", 200) + "}"),
            "at: {; expected an object of options, of constants");
  EXPECT_NE(ErrorOf("EXPLAIN PREPARE " + Repeat("EXPLAIN ", kDeep)).find("can't be explained"),
            std::string::npos);
}

TEST(SyntaxErrors, LongIsNotDeep) {
  const std::string texts[] = {
      "a" + Repeat(" AND a", 50000),          "a" + Repeat(" OR a AND b", 50000),
      "a" + Repeat(" || a", 50000),           "[a" + Repeat(", a", 50000) + "]",
      "f(a" + Repeat(", a", 50000) + ")",     "CASE" + Repeat(" WHEN a THEN b", 20000) + " END",
      "a IN [1" + Repeat(", 1", 50000) + "]",
  };
  for (const std::string& text : texts) {
    const auto expression = ParseExpression(text);
    ASSERT_TRUE(expression.has_value()) << expression.error().message();
    EXPECT_EQ(ToText(**expression), text);
  }
  const std::string joins = "SELECT * FROM a" + Repeat(" JOIN b ON c", 20000);
  const auto statement = ParseStatement(joins);
  ASSERT_TRUE(statement.has_value());
  EXPECT_EQ(ToText(*statement), joins);
}

TEST(SyntaxErrors, StatementsHaveALargestSize) {
  std::string text = "SELECT \"";
  text.resize(kMaxStatementBytes - 1, 'x');
  text += '"';
  EXPECT_TRUE(ParseStatement(text).has_value());
  text += ' ';
  EXPECT_EQ(ErrorOf(text), "the statement has 1048577 bytes; the most is 1048576");
  EXPECT_EQ(ErrorOf("SELECT \"\xff\""), "the statement is not valid UTF-8");
}

}  // namespace
}  // namespace sluice::query
