#include "function/source/embedded_sql.h"

#include <gtest/gtest.h>

namespace sluice::function {
namespace {

// The text with its statements replaced, or "error at line:column: message" of the first error.
std::string Transpile(std::string_view code, SqlConsistency consistency = SqlConsistency::kUnset,
                      const std::set<std::string>& names = {}) {
  const EmbeddedSql found = FindEmbeddedSql(code, names);
  if (!found.errors.empty()) {
    const Status& error = found.errors.front();
    return fmt::format("{} at {}:{}: {}", error.id(), error.place().line, error.place().column,
                       error.message());
  }
  std::string text;
  size_t copied = 0;
  for (const EmbeddedStatement& statement : found.statements) {
    text += code.substr(copied, statement.offset - copied);
    text += CallText(statement, consistency);
    copied = statement.offset + statement.length;
  }
  return text + std::string(code.substr(copied));
}

struct Case {
  std::string_view code;
  std::string_view text;
};

TEST(EmbeddedSqlTest, Replaces) {
  const Case cases[] = {
      {"SELECT 1;", "N1QL('SELECT 1', {});"},
      {"select 1;", "N1QL('select 1', {});"},
      {"var r = SELECT a FROM b WHERE c = $d;",
       "var r = N1QL('SELECT a FROM b WHERE c = $d', {'$d': d});"},
      {"r = SELECT $b, $a, $b;", "r = N1QL('SELECT $b, $a, $b', {'$a': a, '$b': b});"},
      {"return SELECT 1;", "return N1QL('SELECT 1', {});"},
      {"f(SELECT 1);", "f(N1QL('SELECT 1', {}));"},
      {"for (const row of SELECT a FROM b) { log(row); }",
       "for (const row of N1QL('SELECT a FROM b', {})) { log(row); }"},
      {"if (x) DELETE FROM k WHERE a = 1;", "if (x) N1QL('DELETE FROM k WHERE a = 1', {});"},
      {"if (x) { DELETE FROM k }", "if (x) { N1QL('DELETE FROM k ', {})}"},
      {"else DELETE FROM k;", "else N1QL('DELETE FROM k', {});"},
      {"x => SELECT 1;", "x => N1QL('SELECT 1', {});"},
      {"`${SELECT 1}`;", "`${N1QL('SELECT 1', {})}`;"},
      {"foo()\nSELECT 1;", "foo()\nN1QL('SELECT 1', {});"},
      {"if (a) break\nSELECT 1;", "if (a) break\nN1QL('SELECT 1', {});"},
      {"a ? (SELECT 1) : b;", "a ? (N1QL('SELECT 1', {})) : b;"},
      {"var r = (SELECT 1) UNION (SELECT 2);", "var r = N1QL('(SELECT 1) UNION (SELECT 2)', {});"},
      {"(SELECT 1).close();", "(N1QL('SELECT 1', {})).close();"},
      {"if (SELECT 1) { }", "if (N1QL('SELECT 1', {})) { }"},
      {"WITH x AS (SELECT 1) SELECT * FROM x;",
       "N1QL('WITH x AS (SELECT 1) SELECT * FROM x', {});"},
      {"FROM k SELECT a;", "N1QL('FROM k SELECT a', {});"},
      {"UPSERT INTO k (KEY, VALUE) VALUES ($id, {\"a\": $v});",
       "N1QL('UPSERT INTO k (KEY, VALUE) VALUES ($id, {\"a\": $v})', {'$id': id, '$v': v});"},
      {"CREATE INDEX i ON k(a);", "N1QL('CREATE INDEX i ON k(a)', {});"},
      {"EXPLAIN SELECT 1;", "N1QL('EXPLAIN SELECT 1', {});"},
      {"SELECT*FROM k;", "N1QL('SELECT*FROM k', {});"},
      {"SELECT {\"a\": 1};", "N1QL('SELECT {\"a\": 1}', {});"},
      {"SELECT $meta.id;", "N1QL('SELECT $meta.id', {'$meta': meta});"},
  };
  for (const Case& c : cases) EXPECT_EQ(Transpile(c.code), c.text) << c.code;
}

// The semicolon that ends a statement is not one inside a string, a name or a comment.
TEST(EmbeddedSqlTest, QuotesAndComments) {
  const Case cases[] = {
      {"SELECT 'a;b', \"c;\", `d;` FROM k;", R"(N1QL('SELECT \'a;b\', "c;", `d;` FROM k', {});)"},
      {"SELECT 'it''s; ok';", R"(N1QL('SELECT \'it\'\'s; ok\'', {});)"},
      {R"(SELECT 'a\'; b';)", R"(N1QL('SELECT \'a\\\'; b\'', {});)"},
      {"SELECT 1 /* a; b */ + 2;", "N1QL('SELECT 1            + 2', {});"},
      {"SELECT /*+ INDEX(k i) */ a FROM k;", "N1QL('SELECT /*+ INDEX(k i) */ a FROM k', {});"},
      {"SELECT 1 -- it's; one\n+ 2;", "N1QL('SELECT 1             \\n' +\n'+ 2', {});"},
      {"SELECT -- it's; one\n1;", "N1QL('SELECT             \\n' +\n'1', {});"},
      {"SELECT 1 -- it`s\n+ `2`;", "N1QL('SELECT 1        \\n' +\n'+ `2`', {});"},
      {"SELECT 1 // it's; `one\n+ 2;", "N1QL('SELECT 1              \\n' +\n'+ 2', {});"},
      {"SELECT * FROM `b` WHERE x = 'http://y';",
       "N1QL('SELECT * FROM `b` WHERE x = \\'http://y\\'', {});"},
  };
  for (const Case& c : cases) EXPECT_EQ(Transpile(c.code), c.text) << c.code;
}

TEST(EmbeddedSqlTest, KeepsLines) {
  EXPECT_EQ(Transpile("var results =\n"
                      "  SELECT *              // queries are embedded directly\n"
                      "  FROM `beer-samples`\n"
                      "  WHERE abv > $strong;  // a local variable\n"
                      "for (var beer of results) {}\n"),
            "var results =\n"
            "  N1QL('SELECT *                                              \\n' +\n"
            "'  FROM `beer-samples`\\n' +\n"
            "'  WHERE abv > $strong', {'$strong': strong});  // a local variable\n"
            "for (var beer of results) {}\n");
  EXPECT_EQ(Transpile("SELECT 1\r\n+ 2\r+ 3;"),
            "N1QL('SELECT 1\\r\\n' +\r\n'+ 2\\r' +\r'+ 3', {});");
  EXPECT_EQ(Transpile("SELECT 1 /* a\nb */;"), "N1QL('SELECT 1     \\n' +\n'    ', {});");
}

TEST(EmbeddedSqlTest, Consistency) {
  EXPECT_EQ(Transpile("SELECT 1;", SqlConsistency::kRequest),
            "N1QL('SELECT 1', {}, {'consistency': 'request'});");
  EXPECT_EQ(Transpile("SELECT $a;", SqlConsistency::kNone),
            "N1QL('SELECT $a', {'$a': a}, {'consistency': 'none'});");
}

// Words that SQL++ begins with are names of JavaScript like any other.
TEST(EmbeddedSqlTest, LeavesJavaScriptAlone) {
  const std::string_view cases[] = {
      "update(doc);",
      "update (doc);",
      "select(1);",
      "obj.select(1);",
      "obj\n.select(1);",
      "obj?.from(1);",
      "var select = 1;",
      "let update, from;",
      "function select(a) { return a; }",
      "function update(from) { return from - 1; }",
      "class Update { select(a) { return 1; } }",
      "class A extends update { }",
      "execute (class A extends B { });",
      "insert (async x => 1, {get a() { return 1; }}, function* () { yield * 2; });",
      "x = { select: 1, update: 2, from, merge(a) { return a; }, get create() { return 1; } };",
      "({ select } = x);",
      "let select = 1; select --;\nfoo();",
      "select--;\nfoo();",
      "for (create of list) { foo(create); }",
      "x = from\nconst y = 1;",
      "return from in x;",
      "select: for (;;) { continue select; }",
      "delete from;",
      "delete from.a;",
      "delete from[a];",
      "delete dest[meta.id];",
      "delete fromage.x;",
      "from.map(x => x);",
      "from = 1;",
      "from += select * 2;",
      "Array.from(x);",
      "create\n();",
      "explain\n;",
      "var a, select\nfoo();",
      "var select; select\nfoo();",
      "let select = 2, from = x => 3; select * from `x`;",
      "let select = x => 3; select (1);",
      "const from = '' + select;",
      "new Select(1);",
      "if (update) { foo(); }",
      "select ? from : update;",
      "with (x) { foo(); }",
      "import a from 'b';",
      "export * from 'b';",
      "var s = 'SELECT 1;';",
      "var s = \"SELECT 1;\";",
      "var s = `SELECT 1;`;",
      "var s = `SELECT ${a} FROM b;`;",
      "// SELECT 1;",
      "/* SELECT 1; */",
      "x = /SELECT 1;/.test(y);",
      "x = /'/; y = 'SELECT 1;';",
      "x = a /'/ b; ",
      "[select, update].map(from);",
      "update`x`;",
      "async\nselect(1);",
  };
  for (const std::string_view code : cases) EXPECT_EQ(Transpile(code), code) << code;
}

// Where text search goes wrong: quotes in regular expressions, templates and comments before a
// statement.
TEST(EmbeddedSqlTest, FindsWhatTextSearchMisses) {
  const Case cases[] = {
      {"x = /'/; SELECT 1;", "x = /'/; N1QL('SELECT 1', {});"},
      {"x = /[\"'`/]/g; SELECT 1;", "x = /[\"'`/]/g; N1QL('SELECT 1', {});"},
      {"if (a) /'/.test(b); SELECT 1;", "if (a) /'/.test(b); N1QL('SELECT 1', {});"},
      {"x = `it's ${a} \"`; SELECT 1;", "x = `it's ${a} \"`; N1QL('SELECT 1', {});"},
      {"// don't\nSELECT 1;", "// don't\nN1QL('SELECT 1', {});"},
      {"/* don't */ SELECT 1;", "/* don't */ N1QL('SELECT 1', {});"},
      {"update(x); UPDATE k SET a = 1;", "update(x); N1QL('UPDATE k SET a = 1', {});"},
      {"var select = 1; r = SELECT a FROM b;", "var select = 1; r = N1QL('SELECT a FROM b', {});"},
      {"x = {} / 2; SELECT '/';", "x = {} / 2; N1QL('SELECT \\'/\\'', {});"},
  };
  for (const Case& c : cases) EXPECT_EQ(Transpile(c.code), c.text) << c.code;
}

// SELECT * FROM `x` multiplies in JavaScript; nobody means that unless there is such a variable.
TEST(EmbeddedSqlTest, AmbiguousTextIsDecidedByNames) {
  EXPECT_EQ(Transpile("SELECT * FROM `x`;"), "N1QL('SELECT * FROM `x`', {});");
  EXPECT_EQ(Transpile("delete from `x`;"), "N1QL('delete from `x`', {});");
  EXPECT_EQ(Transpile("SELECT\n*\nFROM\nx;"),
            "N1QL('SELECT\\n' +\n'*\\n' +\n'FROM\\n' +\n'x', {});");
  EXPECT_EQ(Transpile("SELECT * FROM `x`;", SqlConsistency::kUnset, {"SELECT", "FROM"}),
            "SELECT * FROM `x`;");
  EXPECT_EQ(Transpile("var select; select * from `x`;"),
            "var select; N1QL('select * from `x`', {});");
  EXPECT_EQ(Transpile("var select; select * x.from;"), "var select; select * x.from;");
  EXPECT_EQ(Transpile("SELECT (1);"), "N1QL('SELECT (1)', {});");
  EXPECT_EQ(Transpile("let SELECT; SELECT (1);"), "let SELECT; SELECT (1);");
}

TEST(EmbeddedSqlTest, Errors) {
  const Case cases[] = {
      {"x = 1;\n  SELECT a FORM b;",
       "function.sql_syntax at 2:17: embedded SQL++: syntax error - "},
      {"var r =\n SELECT a,\n FROM b;",
       "function.sql_syntax at 3:2: embedded SQL++: syntax error - "
       "line 3, column 2, "},
      {"INSERT k VALUES (1, 2);", "function.sql_syntax at 1:8: embedded SQL++: syntax error - "},
      {"UPDATE k SETT a = 1;", "function.sql_syntax at 1:15: embedded SQL++: syntax error - "},
      {"delete from k WERE a = 1;", "function.sql_syntax at 1:20: embedded SQL++: syntax error - "},
      {"SELECT (a) FORM b;", "function.sql_syntax at 1:17: embedded SQL++: syntax error - "},
      {"SELECT \"\U0001F600\" x y;", "function.sql_syntax at 1:15: "},
      {"var r = SELECT 1", "function.sql_syntax at 1:9: embedded SQL++: the statement has no end"},
      {"SELECT 'a;", "function.sql_syntax at 1:1: embedded SQL++: the statement has no end"},
      {"SELECT $1;", "function.sql_parameter at 1:1: embedded SQL++: $1 and ? have no variable"},
      {"SELECT a FROM b WHERE c = ?;", "function.sql_parameter at 1:1: "},
      {"SELECT $class;", "function.sql_parameter at 1:1: embedded SQL++: $class stands for a "},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Transpile(c.code).substr(0, c.text.size()), c.text) << c.code;
  }
}

TEST(EmbeddedSqlTest, EveryErrorIsTold) {
  const EmbeddedSql found = FindEmbeddedSql("SELECT a FORM b;\nSELECT 1;\nSELECT c FORM d;", {});
  ASSERT_EQ(found.errors.size(), 2U);
  EXPECT_EQ(found.errors[1].place().line, 3U);
  EXPECT_EQ(found.statements.size(), 1U);
}

TEST(EmbeddedSqlTest, KindsAndTargets) {
  const struct {
    std::string_view code;
    bool writes;
    std::vector<SqlTarget> targets;
  } cases[] = {
      {"SELECT a FROM b;", false, {}},
      {"FROM b SELECT a;", false, {}},
      {"EXPLAIN DELETE FROM b;", false, {}},
      {"PREPARE p FROM DELETE FROM b;", false, {}},
      {"INFER b;", false, {}},
      {"INSERT INTO a.b.c VALUES ('k', 1);", true, {{"", {"a", "b", "c"}}}},
      {"UPSERT INTO `a-b` VALUES ('k', 1);", true, {{"", {"a-b"}}}},
      {"UPDATE default:a.b.c SET d = 1;", true, {{"default", {"a", "b", "c"}}}},
      {"DELETE FROM a AS x WHERE x.b = 1;", true, {{"", {"a"}}}},
      {"MERGE INTO a USING b ON a.x = b.x WHEN MATCHED THEN DELETE;", true, {{"", {"a"}}}},
      {"DROP INDEX a.i;", true, {}},
      {"EXECUTE p;", true, {}},
  };
  for (const auto& c : cases) {
    const EmbeddedSql found = FindEmbeddedSql(c.code, {});
    ASSERT_EQ(found.statements.size(), 1U) << c.code;
    EXPECT_EQ(found.statements[0].writes, c.writes) << c.code;
    EXPECT_EQ(found.statements[0].targets, c.targets) << c.code;
    EXPECT_EQ(found.statements[0].place, (SourcePlace{1, 1})) << c.code;
  }
}

TEST(EmbeddedSqlTest, ManyCandidatesAreBounded) {
  std::string code;
  for (int i = 0; i < 4000; ++i) code += "select(1)\n";
  const EmbeddedSql found = FindEmbeddedSql(code, {});
  ASSERT_EQ(found.errors.size(), 1U);
  EXPECT_EQ(found.errors[0].id(), "function.too_large");
}

}  // namespace
}  // namespace sluice::function
