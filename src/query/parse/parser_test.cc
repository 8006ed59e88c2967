#include "query/parse/parser.h"

#include <gtest/gtest.h>

#include "query/error.h"

namespace sluice::query {
namespace {

struct Case {
  std::string text;
  std::string printed;  // empty: the same
};

std::string Expression1(const std::string& text) {
  const auto expression = ParseExpression(text);
  return expression ? ToText(**expression) : expression.error().message();
}

std::string Statement1(const std::string& text) {
  const auto statement = ParseStatement(text);
  return statement ? ToText(*statement) : statement.error().message();
}

// Prints as expected, and what is printed reads as the same.
void ExpectExpressions(const std::vector<Case>& cases) {
  for (const auto& [text, printed] : cases) {
    EXPECT_EQ(Expression1(text), printed.empty() ? text : printed) << text;
    const auto first = ParseExpression(text);
    if (!first) continue;
    const auto again = ParseExpression(ToText(**first));
    ASSERT_TRUE(again.has_value()) << again.error().message();
    EXPECT_TRUE(SameExpression(**first, **again)) << text;
    EXPECT_TRUE(SameExpression(**first, *Clone(**first))) << text;
  }
}

void ExpectStatements(const std::vector<Case>& cases) {
  for (const auto& [text, printed] : cases) {
    const std::string first = Statement1(text);
    EXPECT_EQ(first, printed.empty() ? text : printed) << text;
    EXPECT_EQ(Statement1(first), first) << text;
  }
}

// Calls as name(arguments), to see the tree rather than the text.
std::string Tree(const Expression& expression) {
  if (expression.kind != ExprKind::kCall) return ToText(expression);
  std::string tree = expression.name + "(";
  for (size_t i = 0; i < expression.args.size(); ++i) {
    tree += (i > 0 ? " " : "") + Tree(*expression.args[i]);
  }
  return tree + ")";
}

std::string TreeOf(const std::string& text) {
  const auto expression = ParseExpression(text);
  return expression ? Tree(**expression) : expression.error().message();
}

TEST(Parser, Literals) {
  ExpectExpressions({
      {"null", "NULL"},
      {"Missing", "MISSING"},
      {"TRUE", ""},
      {"false", "FALSE"},
      {"0", ""},
      {"9223372036854775807", ""},
      {"-9223372036854775808", ""},
      {"9223372036854775808", "9223372036854776000.0"},
      {"1.0", ""},
      {"1.5e3", "1500.0"},
      {"1e400", "syntax error - line 1, column 1, near '', at: 1e400; the number is too large"},
      {"-0.0", ""},
      {"'it''s'", "\"it's\""},
      {"\"say \"\"hi\"\"\"", R"("say \"hi\"")"},
      {R"('\u00e9\n\ud83d\ude00\'')", "\"é\\n😀'\""},
      {R"("\ud800")", "\"\xef\xbf\xbd\""},
      {"[]", ""},
      {"[1, [2], {}]", ""},
      {"{'a': 1, b, c.d, lower(\"E\"): 2}", "{\"a\": 1, \"b\": b, \"d\": c.d, lower(\"E\"): 2}"},
  });
}

TEST(Parser, Precedence) {
  const std::pair<const char*, const char*> cases[] = {
      {"a or b and not c = d", "or(a and(b not(eq(c d))))"},
      {"a and b and c and d", "and(a b c d)"},
      {"(a and b) and c", "and(and(a b) c)"},
      {"a || b || c || 'd'", "concat(a b c \"d\")"},
      {"a + b - c * d / e % f ^ g", "sub(add(a b) power(mod(divide(mult(c d) e) f) g))"},
      {"- a.b * -1", "mult(neg(a.b) -1)"},
      {"-(1)", "neg(1)"},
      {"- -1", "neg(-1)"},
      {"-1.5[0]", "neg((1.5)[0])"},
      {"a > b", "lt(b a)"},
      {"a >= b", "le(b a)"},
      {"a != b", "not(eq(a b))"},
      {"a <> b", "not(eq(a b))"},
      {"a == b", "eq(a b)"},
      {"a = b < c", "eq(a lt(b c))"},
      {"a < b = c", "eq(lt(a b) c)"},
      {"a = not b", "eq(a not(b))"},
      {"not a in b", "not(in(a b))"},
      {"a not in b", "not(in(a b))"},
      {"a not within [b]", "not(within(a [b]))"},
      {"a like 'x%' escape '!'", "like(a \"x%\" \"!\")"},
      {"a not like b", "not(like(a b))"},
      {"a between 1 and 2 and c", "and(between(a 1 2) c)"},
      {"a not between b + 1 and c || d", "not(between(a add(b 1) concat(c d)))"},
      {"a is null", "is_null(a)"},
      {"a is not null and b is missing", "and(is_not_null(a) is_missing(b))"},
      {"a is not missing", "is_not_missing(a)"},
      {"a is known", "is_valued(a)"},
      {"a is unknown", "is_not_valued(a)"},
      {"a is not unknown", "is_valued(a)"},
      {"a is not valued", "is_not_valued(a)"},
      {"a is distinct from b || c", "is_distinct_from(a concat(b c))"},
      {"a is not distinct from b", "is_not_distinct_from(a b)"},
      {"a + 1 is null", "is_null(add(a 1))"},
      {"exists a and b", "and(exists(a) b)"},
      {"self", "self()"},
      {"meta().id", "meta().id"},
      {"replace(a, 'b', 'c')", "replace(a \"b\" \"c\")"},
      {"and(a, b)", "and(a b)"},
      {"`in`(a, b, c)", "in(a b c)"},
  };
  for (const auto& [text, tree] : cases) EXPECT_EQ(TreeOf(text), tree) << text;
}

TEST(Parser, FewestParentheses) {
  ExpectExpressions({
      {"((a))", "a"},
      {"(a + b) * c", ""},
      {"(a * b) + c", "a * b + c"},
      {"a - (b - c)", ""},
      {"(a - b) - c", "a - b - c"},
      {"(a AND b) AND c", ""},
      {"a || (b || c)", ""},
      {"NOT (a AND b)", ""},
      {"(NOT a) AND b", "NOT a AND b"},
      {"(a = b) = c", ""},
      {"a = (NOT b)", ""},
      {"a > b", "b < a"},
      {"a != b", "NOT a = b"},
      {"-(-a)", ""},
      {"- - a", "-(-a)"},
      {"-(1)", ""},
      {"(-1).a", ""},
      {"(1).a", ""},
      {"a - -1", ""},
      {"a IS NULL IS NOT NULL", ""},
      {"(a IN b) IS NULL", ""},
      {"a IN b IS NULL", ""},
      {"(a BETWEEN 1 AND 2) = TRUE", "a BETWEEN 1 AND 2 = TRUE"},
      {"a BETWEEN (b = 1) AND 2", ""},
      {"`and`(a)", ""},
      {"add(a, b, c)", ""},
      {"concat(a, b)", "a || b"},
  });
}

TEST(Parser, NamesAndPaths) {
  ExpectExpressions({
      {"a.b.`c d`.`e`i", ""},
      {"`a`i", ""},
      {"`a``b`", ""},
      {"`select`", ""},
      {"a.select.from", ""},
      {"`abc`", "abc"},
      {"type", ""},
      {"`order`", ""},
      {"order", "`order`"},
      {"a.``", ""},
      {"a.[b || 'c']", "a.[b || \"c\"]"},
      {"a[0][-1]", ""},
      {"a[1:2][:3][4:][:]", ""},
      {"a[*].b", ""},
      {"(a + b).c", ""},
      {"{\"a\": 1}.a", ""},
      {"f(x).y[0]", ""},
      {"$name + @other", "$name + $other"},
      {"$1 || ?", "$1 || $1"},
  });
}

TEST(Parser, CaseAndComprehensions) {
  ExpectExpressions({
      {"CASE WHEN a THEN 1 WHEN b THEN 2 END", ""},
      {"case a when 1 then 2 else 3 end", "CASE a WHEN 1 THEN 2 ELSE 3 END"},
      {"ANY v IN a SATISFIES v > 1", "ANY v IN a SATISFIES 1 < v END"},
      {"SOME i:v WITHIN a, w IN b SATISFIES i = w END",
       "ANY i:v WITHIN a, w IN b SATISFIES i = w END"},
      {"EVERY v IN a SATISFIES v END", ""},
      {"ANY AND EVERY v IN a SATISFIES v END", ""},
      {"ARRAY v.a FOR v IN b WHEN v.c END", ""},
      {"ARRAY (v.a) + 1 FOR v IN b END", "ARRAY v.a + 1 FOR v IN b END"},
      {"FIRST v FOR i:v IN b END.c", ""},
      {"OBJECT n : v FOR n:v IN b WHEN v END", ""},
  });
}

TEST(Parser, CallsAndWindows) {
  ExpectExpressions({
      {"COUNT(*)", "count(*)"},
      {"Sum(DISTINCT a.b)", "sum(DISTINCT a.b)"},
      {"SUM(ALL a)", "sum(a)"},
      {"sum(a) FILTER (WHERE b)", ""},
      {"row_number() OVER ()", ""},
      {"rank() OVER w", ""},
      {"rank() OVER (w ORDER BY a)", ""},
      {"sum(a) OVER (PARTITION BY b, c ORDER BY d DESC NULLS LAST, e)", ""},
      {"sum(a) OVER (ORDER BY b ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING EXCLUDE TIES)", ""},
      {"sum(a) OVER (ORDER BY b RANGE UNBOUNDED PRECEDING)",
       "sum(a) OVER (ORDER BY b RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"},
      {"sum(a) OVER (GROUPS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW)", ""},
      {"NTH_VALUE(a, 2) FROM LAST IGNORE NULLS OVER (ORDER BY b)",
       "`nth_value`(a, 2) FROM LAST IGNORE NULLS OVER (ORDER BY b)"},
      {"lag(a) RESPECT NULLS OVER (ORDER BY b)", "lag(a) OVER (ORDER BY b)"},
  });
}

TEST(Parser, Select) {
  ExpectStatements({
      {"SELECT 1;;", "SELECT 1"},
      {"select distinct raw a.b from c", "SELECT DISTINCT RAW a.b FROM c"},
      {"SELECT ALL VALUE a b FROM c", "SELECT RAW a AS b FROM c"},
      {"SELECT *, a.*, b AS c, d e FROM x", "SELECT *, a.*, b AS c, d AS e FROM x"},
      {"SELECT (a + b).* FROM x", ""},
      {"SELECT * EXCLUDE a, b.c FROM x", ""},
      {"FROM x LET y = 1 WHERE y SELECT z", "SELECT z FROM x LET y = 1 WHERE y"},
      {"SELECT a FROM x WHERE b GROUP BY c AS d, e GROUP AS g LETTING f = count(*) HAVING f > 1",
       "SELECT a FROM x WHERE b GROUP BY c AS d, e GROUP AS g LETTING f = count(*) "
       "HAVING 1 < f"},
      {"SELECT a FROM x HAVING count(*) = 0", ""},
      {"SELECT a FROM x WINDOW w AS (PARTITION BY b), v AS (w ORDER BY c)", ""},
      {"SELECT a ORDER BY b DESC, c $dir NULLS FIRST, d ASC LIMIT 1 OFFSET 2",
       "SELECT a ORDER BY b DESC, c $dir NULLS FIRST, d LIMIT 1 OFFSET 2"},
      {"SELECT a OFFSET 2 LIMIT 1", "SELECT a LIMIT 1 OFFSET 2"},
      {"SELECT order FROM x order ORDER BY order",
       "SELECT `order` FROM x AS `order` ORDER BY `order`"},
      {"SELECT /*+ INDEX(a b) */ --+ USE_NL\n a /* c */ FROM /*+ no */ x -- d",
       "SELECT /*+ INDEX(a b) */ /*+ USE_NL */ a FROM x"},
      {"WITH a AS (SELECT 1), b AS ([1, 2]) SELECT * FROM a", ""},
      {"WITH RECURSIVE r AS (SELECT 1 UNION SELECT a FROM r) OPTIONS {'levels': 3} "
       "CYCLE a, b RESTRICT SELECT r FROM r",
       "WITH RECURSIVE r AS (SELECT 1 UNION SELECT a FROM r) OPTIONS {\"levels\":3} "
       "CYCLE a, b RESTRICT SELECT r FROM r"},
      {"SELECT 1 UNION ALL SELECT 2 EXCEPT SELECT 3 INTERSECT ALL SELECT 4 ORDER BY a LIMIT 1", ""},
      {"SELECT 1 UNION (SELECT 2 EXCEPT SELECT 3)", ""},
      {"(SELECT 1 UNION SELECT 2) EXCEPT (SELECT 3)", "SELECT 1 UNION SELECT 2 EXCEPT SELECT 3"},
      {"(SELECT 1 LIMIT 1) UNION (SELECT 2 ORDER BY a)", ""},
      {"SELECT ((SELECT 1) UNION (SELECT 2) LIMIT 1)[0]",
       "SELECT (SELECT 1 UNION SELECT 2 LIMIT 1)[0]"},
      {"SELECT a WHERE EXISTS (SELECT 1 FROM b) AND c IN (SELECT RAW d FROM e)", ""},
  });
}

TEST(Parser, From) {
  ExpectStatements({
      {"SELECT * FROM default:b.s.c AS x", ""},
      {"SELECT * FROM system:indexes", "SELECT * FROM `system`:indexes"},
      {"SELECT * FROM b.s.c x, [1, 2] y, LATERAL (SELECT 1) z",
       "SELECT * FROM b.s.c AS x, [1, 2] AS y, LATERAL (SELECT 1) AS z"},
      {"SELECT * FROM a USE KEYS ['x'] INDEX (i USING GSI, j) NL",
       "SELECT * FROM a USE KEYS [\"x\"] USE INDEX (i USING GSI, j) USE NL"},
      {"SELECT * FROM a USE PRIMARY KEYS VALIDATE $k", "SELECT * FROM a USE KEYS VALIDATE $k"},
      {"SELECT * FROM a INNER JOIN b USE HASH(build) ON a.x = b.y LEFT OUTER JOIN c ON KEYS a.k",
       "SELECT * FROM a JOIN b USE HASH (BUILD) ON a.x = b.y LEFT JOIN c ON KEYS a.k"},
      {"SELECT * FROM a RIGHT JOIN b USE HASH (PROBE) ON TRUE", ""},
      {"SELECT * FROM a JOIN b ON PRIMARY KEY b.k FOR a",
       "SELECT * FROM a JOIN b ON KEY b.k FOR a"},
      {"SELECT * FROM a NEST b ON KEYS a.k LEFT NEST c ON a.x = c.x", ""},
      {"SELECT * FROM a UNNEST a.b AS c LEFT UNNEST c.d INNER FLATTEN c.e f",
       "SELECT * FROM a UNNEST a.b AS c LEFT UNNEST c.d UNNEST c.e AS f"},
  });
}

TEST(Parser, FromTermsHaveAliases) {
  const auto statement = ParseStatement(
      "SELECT 1 FROM default:b.s.c, x.y z, u.v, `w w`, [1], (SELECT 1), f.g[0] UNNEST h.i");
  ASSERT_TRUE(statement.has_value());
  const auto& block =
      std::get<std::unique_ptr<SelectBlock>>(std::get<QueryPtr>(statement->body)->body);
  const FromClause& from = *block->from;
  EXPECT_EQ(from.first.alias, "c");
  EXPECT_EQ(from.first.keyspace->name_space, "default");
  EXPECT_EQ(from.first.keyspace->parts, (std::vector<std::string>{"b", "s", "c"}));
  EXPECT_FALSE(from.first.explicit_alias);
  std::vector<std::string> aliases;
  for (const JoinClause& join : from.joins) aliases.push_back(join.term.alias);
  EXPECT_EQ(aliases, (std::vector<std::string>{"z", "v", "w w", "", "", "", "i"}));
  EXPECT_TRUE(from.joins[0].term.explicit_alias);
  EXPECT_FALSE(from.joins[0].term.keyspace.has_value());
}

TEST(Parser, Writes) {
  ExpectStatements({
      {"INSERT INTO b.s.c (KEY, VALUE) VALUES ('a', {}), VALUES ('b', 1, {'expiration': 5})",
       "INSERT INTO b.s.c VALUES (\"a\", {}), (\"b\", 1, {\"expiration\": 5})"},
      {"UPSERT INTO default:k AS x VALUES ($1, $2) RETURNING x.*, META(x).id AS id",
       "UPSERT INTO default:k AS x VALUES ($1, $2) RETURNING x.*, meta(x).id AS id"},
      {"INSERT INTO k (KEY a, VALUE b, OPTIONS c) SELECT a FROM d RETURNING RAW a", ""},
      {"INSERT INTO k (PRIMARY KEY uuid()) SELECT a FROM d",
       "INSERT INTO k (KEY uuid()) SELECT a FROM d"},
      {"UPDATE k USE KEYS 'x' SET a.b = 1, c[0] = 2, META().expiration = 3 UNSET d WHERE e "
       "LIMIT 1 RETURNING *",
       "UPDATE k USE KEYS \"x\" SET a.b = 1, c[0] = 2, meta().expiration = 3 UNSET d WHERE e "
       "LIMIT 1 RETURNING *"},
      {"UPDATE k AS x LET y = 1 SET i.a = y FOR i IN x.items, j IN x.b FOR n:m WITHIN i WHEN m END "
       "UNSET i.b FOR i IN x.c END",
       ""},
      {"DELETE FROM k x USE KEYS ['a'] WHERE x.b LIMIT 1 OFFSET 2 RETURNING RAW x",
       "DELETE FROM k AS x USE KEYS [\"a\"] WHERE x.b LIMIT 1 OFFSET 2 RETURNING RAW x"},
      {"MERGE INTO t AS a USING (SELECT 1) AS s ON a.x = s.y WHEN MATCHED THEN UPDATE SET a.b = 1 "
       "WHERE c WHEN MATCHED THEN DELETE WHERE d WHEN NOT MATCHED THEN INSERT (KEY e, VALUE f) "
       "WHERE g LIMIT 5 RETURNING a.b",
       ""},
      {"MERGE INTO t USING s ON PRIMARY KEY s.k WHEN NOT MATCHED THEN INSERT {s.a}",
       "MERGE INTO t USING s ON KEY s.k WHEN NOT MATCHED THEN INSERT {\"a\": s.a}"},
  });
}

TEST(Parser, Definitions) {
  ExpectStatements({
      {"CREATE INDEX i ON b.s.c (a, b.c DESC, DISTINCT ARRAY v.x FOR v IN d END, ALL e, "
       "lower(f) INCLUDE MISSING DESC) PARTITION BY HASH(meta().id) WHERE g > 1 USING GSI "
       "WITH {'defer_build': true}",
       "CREATE INDEX i ON b.s.c (a, b.c DESC, DISTINCT ARRAY v.x FOR v IN d END, ALL e, "
       "lower(f) INCLUDE MISSING DESC) PARTITION BY HASH(meta().id) WHERE 1 < g USING GSI "
       "WITH {\"defer_build\":true}"},
      {"CREATE INDEX i IF NOT EXISTS ON k (a ASC)", "CREATE INDEX IF NOT EXISTS i ON k (a)"},
      {"CREATE PRIMARY INDEX ON k", ""},
      {"CREATE PRIMARY INDEX `#primary` ON default:k", ""},
      {"DROP INDEX i ON b.s.c", ""},
      {"DROP INDEX b.s.c.i IF EXISTS", "DROP INDEX IF EXISTS i ON b.s.c"},
      {"DROP PRIMARY INDEX IF EXISTS ON k USING GSI", "DROP PRIMARY INDEX IF EXISTS ON k"},
      {"ALTER INDEX k.i WITH {\"action\":\"replica_count\"}",
       "ALTER INDEX i ON k WITH {\"action\":\"replica_count\"}"},
      {"BUILD INDEX ON k (i, 'j', (SELECT 1))", "BUILD INDEX ON k (\"i\", \"j\", (SELECT 1))"},
      {"CREATE BUCKET IF NOT EXISTS b WITH {\"ramQuota\":100}", ""},
      {"CREATE SCOPE b.s IF NOT EXISTS", "CREATE SCOPE IF NOT EXISTS b.s"},
      {"CREATE COLLECTION default:b.s.c WITH {\"maxTTL\":10}", ""},
      {"DROP COLLECTION IF EXISTS b.s.c", ""},
      {"DROP SCOPE b.s", ""},
      {"DROP BUCKET b", ""},
      {"ALTER BUCKET b WITH {\"x\":1}", ""},
      {"TRUNCATE KEYSPACE b.s.c", "FLUSH COLLECTION b.s.c"},
  });
}

TEST(Parser, OtherStatements) {
  ExpectStatements({
      {"PREPARE SELECT 1", ""},
      {"PREPARE FORCE p FROM SELECT $a", "PREPARE FORCE \"p\" AS SELECT $a"},
      {"EXECUTE p USING [1, 2]", "EXECUTE \"p\" USING [1, 2]"},
      {"EXECUTE 'p q' USING {'a': 1}", "EXECUTE \"p q\" USING {\"a\": 1}"},
      {"EXPLAIN UPDATE k SET a = 1", ""},
      {"INFER b.s.c WITH {\"sample_size\":10}", "INFER KEYSPACE b.s.c WITH {\"sample_size\":10}"},
      {"INFER (SELECT 1)", "INFER ((SELECT 1))"},
      {"INFER f(1)", "INFER (f(1))"},
      {"BEGIN WORK", "BEGIN TRANSACTION"},
      {"START TRANSACTION ISOLATION LEVEL READ COMMITTED", "BEGIN TRANSACTION"},
      {"COMMIT", "COMMIT TRANSACTION"},
      {"ROLLBACK TRAN TO SAVEPOINT s", "ROLLBACK TRANSACTION TO SAVEPOINT s"},
      {"ROLLBACK", "ROLLBACK TRANSACTION"},
      {"SAVEPOINT s", ""},
      {"SET TRANSACTION ISOLATION LEVEL READ COMMITTED", ""},
      {"UPDATE STATISTICS b.s.c (a, b) WITH {\"x\":1}", "UPDATE STATISTICS FOR b.s.c"},
      {"ANALYZE COLLECTION k INDEX ALL", "UPDATE STATISTICS FOR k"},
  });
}

TEST(Parser, KeepsTheTextOfInnerStatements) {
  auto statement = ParseStatement("PREPARE p AS  select\n $a, $b, $a ; ");
  ASSERT_TRUE(statement.has_value());
  const auto& prepare = std::get<PrepareStatement>(statement->body);
  EXPECT_EQ(prepare.text, "select\n $a, $b, $a");
  EXPECT_EQ(prepare.statement->named_parameters, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(statement->named_parameters, (std::vector<std::string>{"a", "b"}));
  statement = ParseStatement("EXPLAIN SELECT ? ");
  ASSERT_TRUE(statement.has_value());
  const auto& explain = std::get<ExplainStatement>(statement->body);
  EXPECT_EQ(explain.text, "SELECT ?");
  EXPECT_EQ(explain.statement->positional_parameters, 1U);
}

TEST(Parser, CountsParameters) {
  const std::pair<const char*, uint32_t> cases[] = {
      {"SELECT ?, ? FROM x WHERE a = ? ORDER BY a ? LIMIT ? OFFSET ?", 6},
      {"SELECT $3, @2", 3},
      {"UPDATE k USE KEYS ? SET a[?] = ? FOR v IN ? WHEN ? END UNSET b.[?] WHERE ? LIMIT ? "
       "RETURNING ?",
       9},
      {"INSERT INTO k VALUES (?, ?, ?) RETURNING ?", 4},
      {"INSERT INTO k (KEY ?, VALUE ?, OPTIONS ?) SELECT ?", 4},
      {"DELETE FROM k LET a = ? WHERE ? LIMIT ?", 3},
      {"MERGE INTO t USING ? AS s ON ? WHEN MATCHED THEN UPDATE SET a = ? WHERE ? "
       "WHEN MATCHED THEN DELETE WHERE ? WHEN NOT MATCHED THEN INSERT (KEY ?, VALUE ?) LIMIT ?",
       8},
      {"WITH a AS (?) SELECT (SELECT ? FROM ? AS x JOIN y ON KEYS ? LET z = ? GROUP BY ? "
       "LETTING l = ? HAVING ?), ANY v IN ? SATISFIES ? END, "
       "sum(?) FILTER (WHERE ?) OVER (PARTITION BY ? ORDER BY ? ROWS ? PRECEDING)",
       15},
      {"INFER ?", 1},
      {"EXECUTE p USING [?]", 1},
  };
  for (const auto& [text, count] : cases) {
    const auto statement = ParseStatement(text);
    ASSERT_TRUE(statement.has_value()) << statement.error().message();
    EXPECT_EQ(statement->positional_parameters, count) << text;
  }
}

TEST(Parser, IndexKeys) {
  const std::pair<const char*, const char*> cases[] = {
      {"name DESC", "name DESC"},
      {"a.b include missing asc", "a.b INCLUDE MISSING"},
      {"distinct array x for x in y end", "DISTINCT ARRAY x FOR x IN y END"},
      {"ALL tags DESC", "ALL tags DESC"},
      {"meta().id", "meta().id"},
  };
  for (const auto& [text, printed] : cases) {
    const auto key = ParseIndexKey(text);
    ASSERT_TRUE(key.has_value()) << key.error().message();
    EXPECT_EQ(ToText(*key), printed);
  }
  EXPECT_TRUE(ParseIndexKey("distinct array x for x in y end")->expression->distinct);
  EXPECT_FALSE(ParseIndexKey("a, b").has_value());
}

TEST(Parser, LuaFunctions) {
  ExpectStatements({
      {"create lua scalar function twice deterministic",
       "CREATE LUA SCALAR FUNCTION twice DETERMINISTIC"},
      {"CREATE LUA AGGREGATE FUNCTION middle", ""},
      {"DROP LUA SCALAR FUNCTION twice", ""},
      {"DROP LUA AGGREGATE FUNCTION middle;", "DROP LUA AGGREGATE FUNCTION middle"},
  });
  EXPECT_NE(Statement1("CREATE LUA AGGREGATE FUNCTION a DETERMINISTIC").find("DETERMINISTIC"),
            std::string::npos);
}

}  // namespace
}  // namespace sluice::query
