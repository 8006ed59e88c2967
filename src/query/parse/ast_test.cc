#include "query/parse/ast.h"

#include <gtest/gtest.h>

#include "query/parse/parser.h"

namespace sluice::query {
namespace {

ExpressionPtr Read(std::string_view text) {
  auto expression = ParseExpression(text);
  EXPECT_TRUE(expression.has_value()) << text;
  return std::move(*expression);
}

TEST(Ast, ChildrenAreAllVisitedButNotInsideSubqueries) {
  const ExpressionPtr expression = Read(
      "f(a, (SELECT z), b[:c]) FILTER (WHERE d) OVER (PARTITION BY e ORDER BY g $h "
      "ROWS BETWEEN i PRECEDING AND j FOLLOWING)");
  std::string seen;
  ForEachChild(*expression, [&](const Expression& child) { seen += ToText(child) + ";"; });
  EXPECT_EQ(seen, "a;(SELECT z);b[:c];d;e;g;$h;i;j;");
  const ExpressionPtr object = Read("OBJECT a : b FOR c IN d, e IN f WHEN g END");
  ForEachChild(*object, [](ExpressionPtr& child) { child->name += "1"; });
  EXPECT_EQ(ToText(*object), "OBJECT a1 : b1 FOR c IN d1, e IN f1 WHEN g1 END");
}

TEST(Ast, SameExpressionLooksAtEverythingThatMeansSomething) {
  const char* const different[] = {
      "a",
      "`a`i",
      "$a",
      "1",
      "\"a\"",
      "x.a",
      "x.`a`i",
      "x.[a]",
      "x[a]",
      "x[a:]",
      "x[:a]",
      "sum(a)",
      "sum(DISTINCT a)",
      "sum(a) FILTER (WHERE b)",
      "sum(a) OVER ()",
      "sum(a) OVER w",
      "sum(a) OVER (ORDER BY b)",
      "sum(a) OVER (ORDER BY b DESC)",
      "sum(a) OVER (ORDER BY b NULLS LAST)",
      "sum(a) OVER (ORDER BY b ROWS 1 PRECEDING)",
      "sum(a) OVER (ORDER BY b ROWS 2 PRECEDING)",
      "sum(a) OVER (ORDER BY b ROWS 2 PRECEDING EXCLUDE TIES)",
      "lag(a) OVER ()",
      "lag(a) IGNORE NULLS OVER ()",
      "nth_value(a, 1) OVER ()",
      "nth_value(a, 1) FROM LAST OVER ()",
      "ANY a IN b SATISFIES c END",
      "ANY a WITHIN b SATISFIES c END",
      "ANY x:a IN b SATISFIES c END",
      "EVERY a IN b SATISFIES c END",
      "ARRAY a FOR a IN b END",
      "ARRAY a FOR a IN b WHEN c END",
      "(SELECT a)",
      "(SELECT b)",
  };
  for (const char* a : different) {
    for (const char* b : different) {
      EXPECT_EQ(SameExpression(*Read(a), *Read(b)), a == b) << a << " and " << b;
    }
  }
  EXPECT_TRUE(SameExpression(*Read("(a)  +1"), *Read("a + 1")));
}

// What the binder does: names become variables with numbers of their own.
void BindAll(Expression& expression, const std::string& name, VariableId id) {
  if (expression.kind == ExprKind::kName && expression.name == name) {
    expression.kind = ExprKind::kVariable;
    expression.variable = id;
  }
  if (expression.comprehension) expression.comprehension->bindings[0].value_id = id;
  ForEachChild(expression, [&](ExpressionPtr& child) { BindAll(*child, name, id); });
}

TEST(Ast, BoundVariablesOfComprehensionsMayDiffer) {
  const ExpressionPtr a = Read("ANY x IN b SATISFIES x.c = 1 END");
  const ExpressionPtr b = Read("ANY y IN b SATISFIES y.c = 1 END");
  EXPECT_FALSE(SameExpression(*a, *b));
  BindAll(*a, "x", 7);
  BindAll(*b, "y", 8);
  EXPECT_TRUE(SameExpression(*a, *b));
  EXPECT_FALSE(SameExpression(*a->comprehension->body, *b->comprehension->body));
}

TEST(Ast, CloneCopiesAWholeQuery) {
  const std::string text =
      "WITH RECURSIVE r AS (SELECT 1) OPTIONS {\"levels\":2} CYCLE a RESTRICT "
      "SELECT /*+ h */ DISTINCT a.*, b AS c EXCLUDE d FROM default:b.s.c AS a USE KEYS VALIDATE "
      "\"k\" USE INDEX (i) LEFT JOIN e USE HASH (BUILD) ON f JOIN g ON KEY h FOR a UNNEST i AS j "
      "LET k = 1 WHERE l GROUP BY m AS n GROUP AS o LETTING p = 1 HAVING q "
      "WINDOW w AS (PARTITION BY s) UNION ALL (SELECT 2 LIMIT 1) ORDER BY t DESC LIMIT 1 OFFSET 2";
  const auto statement = ParseStatement(text);
  ASSERT_TRUE(statement.has_value()) << statement.error().message();
  EXPECT_EQ(ToText(*Clone(*std::get<QueryPtr>(statement->body))), text);
}

}  // namespace
}  // namespace sluice::query
