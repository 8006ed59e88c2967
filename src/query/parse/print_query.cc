#include "json/print.h"
#include "query/parse/print_impl.h"

namespace sluice::query {

void AstPrinter::Window(const WindowSpec& window) {
  Say("(");
  std::string_view space = "";
  const auto separate = [&] { Say(std::exchange(space, " ")); };
  if (!window.base.empty()) {
    separate();
    Name(window.base);
  }
  if (!window.partition_by.empty()) {
    separate();
    Say("PARTITION BY ");
    List(window.partition_by);
  }
  if (!window.order_by.empty()) {
    separate();
    Sort(window.order_by);
  }
  if (window.frame) {
    separate();
    Frame(*window.frame);
  }
  Say(")");
}

void AstPrinter::Frame(const WindowFrame& frame) {
  using Unit = WindowFrame::Unit;
  using Exclude = WindowFrame::Exclude;
  Say(frame.unit == Unit::kRows ? "ROWS" : frame.unit == Unit::kRange ? "RANGE" : "GROUPS");
  Say(" BETWEEN ");
  FrameBound(frame.start, frame.start_offset);
  Say(" AND ");
  FrameBound(frame.end, frame.end_offset);
  if (frame.exclude == Exclude::kNoOthers) return;
  Say(frame.exclude == Exclude::kCurrentRow ? " EXCLUDE CURRENT ROW"
      : frame.exclude == Exclude::kGroup    ? " EXCLUDE GROUP"
                                            : " EXCLUDE TIES");
}

void AstPrinter::FrameBound(WindowFrame::Bound bound, const ExpressionPtr& offset) {
  using Bound = WindowFrame::Bound;
  if (bound == Bound::kCurrentRow) return Say("CURRENT ROW");
  if (offset) {
    Print(*offset, Precedence::kConcat);
  } else {
    Say("UNBOUNDED");
  }
  const bool preceding = bound == Bound::kPreceding || bound == Bound::kUnboundedPreceding;
  Say(preceding ? " PRECEDING" : " FOLLOWING");
}

void AstPrinter::Print(const Query& query) {
  if (!query.with.empty()) With(query);
  Body(query.body);
  if (!query.order_by.empty()) {
    Say(" ");
    Sort(query.order_by);
  }
  Clause("LIMIT", query.limit);
  Clause("OFFSET", query.offset);
}

void AstPrinter::With(const Query& query) {
  Say(query.recursive ? "WITH RECURSIVE " : "WITH ");
  for (size_t i = 0; i < query.with.size(); ++i) {
    const CommonTable& table = query.with[i];
    if (i > 0) Say(", ");
    Name(table.name);
    Say(" AS ");
    const bool subquery = table.expression->kind == ExprKind::kSubquery;
    if (!subquery) Say("(");
    Print(*table.expression);
    if (!subquery) Say(")");
    if (table.options) {
      Say(" OPTIONS ");
      json::Print(*table.options, out_);
    }
    if (!table.cycle.empty()) {
      Say(" CYCLE ");
      List(table.cycle);
      Say(" RESTRICT");
    }
  }
  Say(" ");
}

void AstPrinter::Body(const QueryBody& body) {
  if (const auto* block = std::get_if<std::unique_ptr<SelectBlock>>(&body)) return Block(**block);
  if (std::holds_alternative<QueryPtr>(body)) return BodyInParentheses(body);
  const SetOperation& operation = *std::get<std::unique_ptr<SetOperation>>(body);
  Body(operation.left);
  Say(operation.op == SetOperator::kUnion       ? " UNION "
      : operation.op == SetOperator::kIntersect ? " INTERSECT "
                                                : " EXCEPT ");
  if (operation.all) Say("ALL ");
  const bool block = std::holds_alternative<std::unique_ptr<SelectBlock>>(operation.right);
  block ? Body(operation.right) : BodyInParentheses(operation.right);
}

void AstPrinter::BodyInParentheses(const QueryBody& body) {
  Say("(");
  const auto* query = std::get_if<QueryPtr>(&body);
  query != nullptr ? Print(**query) : Body(body);
  Say(")");
}

void AstPrinter::Block(const SelectBlock& block) {
  Say("SELECT ");
  for (const std::string& hint : block.hints) {
    // A hint in a line comment may contain the end mark of the other kind.
    const bool line = hint.find("*/") != std::string::npos;
    Say(line ? "--+ " : "/*+ ");
    Say(hint);
    Say(line ? "\n" : " */ ");
  }
  Project(block.projection);
  if (block.from) From(*block.from);
  if (!block.let.empty()) {
    Say(" LET ");
    Assign(block.let);
  }
  Clause("WHERE", block.where);
  if (block.group) Group(*block.group);
  for (size_t i = 0; i < block.windows.size(); ++i) {
    Say(i == 0 ? " WINDOW " : ", ");
    Name(block.windows[i].name);
    Say(" AS ");
    Window(block.windows[i].spec);
  }
}

void AstPrinter::Alias(const std::string& alias) {
  if (alias.empty()) return;
  Say(" AS ");
  Name(alias);
}

void AstPrinter::Project(const Projection& projection) {
  if (projection.distinct) Say("DISTINCT ");
  if (projection.raw) Say("RAW ");
  for (size_t i = 0; i < projection.terms.size(); ++i) {
    const ResultTerm& term = projection.terms[i];
    if (i > 0) Say(", ");
    if (!term.expression) {
      Say("*");
      continue;
    }
    Print(*term.expression, term.star ? Precedence::kPostfix : Precedence::kOr);
    if (term.star) Say(".*");
    Alias(term.alias);
  }
  if (projection.exclude.empty()) return;
  Say(" EXCLUDE ");
  List(projection.exclude);
}

void AstPrinter::From(const FromClause& from) {
  Say(" FROM ");
  Term(from.first);
  for (const JoinClause& join : from.joins) Join(join);
}

void AstPrinter::Keyspace(const KeyspacePath& path) {
  if (!path.name_space.empty()) {
    Name(path.name_space);
    Say(":");
  }
  for (size_t i = 0; i < path.parts.size(); ++i) {
    if (i > 0) Say(".");
    Name(path.parts[i]);
  }
}

void AstPrinter::Term(const FromTerm& term) {
  if (term.lateral) Say("LATERAL ");
  if (term.expression) {
    Print(*term.expression);
  } else if (term.keyspace) {
    Keyspace(*term.keyspace);
  }
  if (term.explicit_alias) Alias(term.alias);
  Hints(term);
}

void AstPrinter::Hints(const FromTerm& term) {
  if (term.use_keys) {
    Say(term.use_keys->validate ? " USE KEYS VALIDATE " : " USE KEYS ");
    Print(*term.use_keys->keys);
  }
  for (size_t i = 0; i < term.use_index.size(); ++i) {
    const IndexHint& hint = term.use_index[i];
    Say(i == 0 ? " USE INDEX (" : ", ");
    if (!hint.name.empty()) Name(hint.name);
    if (!hint.name.empty() && !hint.using_kind.empty()) Say(" ");
    if (!hint.using_kind.empty()) Say("USING GSI");
  }
  if (!term.use_index.empty()) Say(")");
  if (term.join_method == JoinMethodHint::kNone) return;
  Say(term.join_method == JoinMethodHint::kHashBuild   ? " USE HASH (BUILD)"
      : term.join_method == JoinMethodHint::kHashProbe ? " USE HASH (PROBE)"
                                                       : " USE NL");
}

void AstPrinter::Join(const JoinClause& join) {
  if (join.comma) {
    Say(", ");
    return Term(join.term);
  }
  Say(join.type == JoinType::kInner ? "" : join.type == JoinType::kLeft ? " LEFT" : " RIGHT");
  Say(join.kind == JoinKind::kJoin   ? " JOIN "
      : join.kind == JoinKind::kNest ? " NEST "
                                     : " UNNEST ");
  Term(join.term);
  Clause("ON", join.on);
  Clause("ON KEYS", join.on_keys);
  if (!join.on_key) return;
  Clause("ON KEY", join.on_key);
  Say(" FOR ");
  Name(join.on_key_for);
}

void AstPrinter::Assign(const std::vector<NamedExpression>& list) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0) Say(", ");
    Name(list[i].name);
    Say(" = ");
    Print(*list[i].expression);
  }
}

void AstPrinter::Group(const GroupClause& group) {
  for (size_t i = 0; i < group.keys.size(); ++i) {
    Say(i == 0 ? " GROUP BY " : ", ");
    Print(*group.keys[i].expression);
    Alias(group.keys[i].name);
  }
  if (!group.group_as.empty()) {
    Say(" GROUP");
    Alias(group.group_as);
  }
  if (!group.letting.empty()) {
    Say(" LETTING ");
    Assign(group.letting);
  }
  Clause("HAVING", group.having);
}

void AstPrinter::Sort(const std::vector<SortTerm>& terms) {
  Say("ORDER BY ");
  for (size_t i = 0; i < terms.size(); ++i) {
    const SortTerm& term = terms[i];
    if (i > 0) Say(", ");
    Print(*term.expression);
    if (term.descending) Say(" DESC");
    if (term.direction) {
      Say(" ");
      Print(*term.direction);
    }
    if (term.nulls != SortTerm::Nulls::kDefault) {
      Say(term.nulls == SortTerm::Nulls::kFirst ? " NULLS FIRST" : " NULLS LAST");
    }
  }
}

std::string ToText(const Query& query) {
  std::string text;
  AstPrinter(&text).Print(query);
  return text;
}

}  // namespace sluice::query
