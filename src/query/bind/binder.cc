// Queries: WITH, blocks, FROM terms, set operations. Expressions are bound in bind_expression.cc,
// groups and windows in bind_group.cc, writes in bind_write.cc.
//
// A block binds in the order in which it runs: FROM, LET, WHERE, GROUP BY, results, ORDER BY. Then
// the clauses after the grouping are rewritten to refer to group keys and aggregates.
#include "query/bind/binder.h"

#include <algorithm>
#include <utility>

#include "query/bind/hint_comments.h"
#include "query/bind/result_names.h"
#include "query/bind/scope.h"
#include "query/bind/walk.h"
#include "query/error.h"

namespace sluice::query {
namespace {

constexpr std::string_view kSeries = "generate_series";

// Whether the query reads a variable that it does not declare itself, tables of WITH aside: those
// are the same for every row.
class FreeVariables {
 public:
  explicit FreeVariables(VariableId first_own, const Variables& variables)
      : first_own_(first_own), variables_(variables) {}

  // Of a query or an expression.
  template <typename T>
  bool Has(T& query) {
    bool found = false;
    WalkDeep(query, [&](ExpressionPtr& e) {
      if (e->kind == ExprKind::kVariable && e->variable < first_own_ &&
          variables_[e->variable].kind != Variable::Kind::kTable) {
        found = true;
      }
      return !found;
    });
    return found;
  }

 private:
  VariableId first_own_;
  const Variables& variables_;
};

// `a.b.c` as the parts of a keyspace's name; empty when it is no such path.
std::vector<std::string> PathParts(const Expression& expression) {
  std::vector<std::string> parts;
  const Expression* step = &expression;
  for (; step->kind == ExprKind::kField; step = step->args[0].get()) {
    parts.insert(parts.begin(), step->name);
  }
  if (step->kind != ExprKind::kName) return {};
  parts.insert(parts.begin(), step->name);
  return parts;
}

const Expression& RootOf(const Expression& expression) {
  const Expression* step = &expression;
  while (step->kind == ExprKind::kField) step = step->args[0].get();
  return *step;
}

}  // namespace

Status Binder::Bind(Query& query) { return BindQuery(query, nullptr); }

Status Binder::BindQuery(Query& query, Scope* outer) {
  const auto first_own = static_cast<VariableId>(variables_.all.size());
  Scope scope(outer);
  RETURN_IF_ERROR(BindWith(query, scope));
  if (auto* block = std::get_if<std::unique_ptr<SelectBlock>>(&query.body)) {
    RETURN_IF_ERROR(BindBlock(**block, &query.order_by, scope));
  } else {
    RETURN_IF_ERROR(BindBody(query.body, scope));
    if (comdb2()) NameByFirst(query.body);
    // ORDER BY sees the rows of the result only.
    Scope rows(&scope);
    query.result_variable = variables_.Add("");
    rows.has_from = true;
    rows.sources = {query.result_variable};
    if (comdb2()) {
      variables_.all[query.result_variable].columns =
          ResultNames(query.body).value_or(std::vector<std::string>());
    }
    for (SortTerm& term : query.order_by) {
      if (comdb2()) UseNumberedColumn(term.expression, query.result_variable);
      RETURN_IF_ERROR(BindExpression(term.expression, rows));
      RETURN_IF_ERROR(BindOptional(term.direction, rows));
    }
  }
  RETURN_IF_ERROR(BindOptional(query.limit, scope));
  RETURN_IF_ERROR(BindOptional(query.offset, scope));
  query.correlated = FreeVariables(first_own, variables_).Has(query);
  return OkStatus();
}

Status Binder::BindWith(Query& query, Scope& scope) {
  for (CommonTable& table : query.with) {
    if (scope.Declares(table.name)) {
      return AtPlace(QueryError(QueryCode::kDuplicateWithAlias,
                                "Duplicate WITH alias reference in WITH: '{}'", table.name),
                     table.place);
    }
    // While it is made, a recursive table is another one in each round.
    if (query.recursive) {
      table.variable = variables_.Add(table.name);
      scope.names.push_back({table.name, table.variable});
    }
    const auto first_own = static_cast<VariableId>(variables_.all.size());
    const bool of_query = table.expression->kind == ExprKind::kSubquery;
    if (comdb2() && of_query && query.recursive) {
      variables_.all[table.variable].columns = WrittenNames(table.expression->query->body);
    }
    RETURN_IF_ERROR(BindSource(table.expression, scope));
    if (!query.recursive) {
      table.variable = variables_.Add(table.name);
      scope.names.push_back({table.name, table.variable});
    }
    if (comdb2() && of_query) {
      variables_.all[table.variable].columns =
          ResultNames(table.expression->query->body).value_or(std::vector<std::string>());
    }
    variables_.all[table.variable].kind = Variable::Kind::kTable;
    if (FreeVariables(first_own, variables_).Has(table.expression)) {
      variables_.all[table.variable].kind = Variable::Kind::kValue;
    }
    scope.tables.push_back(table.name);
  }
  return OkStatus();
}

Status Binder::BindBody(QueryBody& body, Scope& scope) {
  if (auto* block = std::get_if<std::unique_ptr<SelectBlock>>(&body)) {
    return BindBlock(**block, nullptr, scope);
  }
  if (auto* operation = std::get_if<std::unique_ptr<SetOperation>>(&body)) {
    RETURN_IF_ERROR(BindBody((*operation)->left, scope));
    return BindBody((*operation)->right, scope);
  }
  return BindQuery(*std::get<QueryPtr>(body), &scope);
}

Status Binder::BindBlock(SelectBlock& block, std::vector<SortTerm>* order_by, Scope& outer) {
  Scope scope(&outer);
  const auto first_own = static_cast<VariableId>(variables_.all.size());
  if (block.from) RETURN_IF_ERROR(BindFrom(*block.from, scope));
  ApplyHintComments(block);
  RETURN_IF_ERROR(BindLet(block.let, scope));
  if (comdb2()) RETURN_IF_ERROR(UseResultTerms(block, scope));
  RETURN_IF_ERROR(BindOptional(block.where, scope));
  const auto past_rows = static_cast<VariableId>(variables_.all.size());
  Scope grouped(&scope);
  if (block.group) RETURN_IF_ERROR(BindGroup(*block.group, grouped));
  RETURN_IF_ERROR(BindNamedWindows(block, grouped));
  RETURN_IF_ERROR(BindProjection(block.projection, grouped));
  if (order_by != nullptr) RETURN_IF_ERROR(BindOrder(*order_by, block.projection, grouped));
  RETURN_IF_ERROR(RewriteGroups(block, order_by, first_own, past_rows));
  return BindWindows(block, order_by);
}

Status Binder::BindNamedWindows(SelectBlock& block, Scope& scope) {
  for (size_t i = 0; i < block.windows.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (block.windows[k].name != block.windows[i].name) continue;
      return AtPlace(QueryError(QueryCode::kDuplicateAlias, "there are two WINDOWs named '{}'",
                                block.windows[i].name),
                     block.place);
    }
    WindowSpec& spec = block.windows[i].spec;
    for (ExpressionPtr& key : spec.partition_by) RETURN_IF_ERROR(BindExpression(key, scope));
    for (SortTerm& term : spec.order_by) {
      RETURN_IF_ERROR(BindExpression(term.expression, scope));
      RETURN_IF_ERROR(BindOptional(term.direction, scope));
    }
    if (!spec.frame) continue;
    RETURN_IF_ERROR(BindOptional(spec.frame->start_offset, scope));
    RETURN_IF_ERROR(BindOptional(spec.frame->end_offset, scope));
  }
  return OkStatus();
}

Status Binder::BindFrom(FromClause& from, Scope& scope) {
  RETURN_IF_ERROR(BindTerm(from.first, scope));
  RETURN_IF_ERROR(DeclareTerm(from.first, scope));
  for (JoinClause& join : from.joins) RETURN_IF_ERROR(BindJoin(join, scope));
  return OkStatus();
}

// A keyspace's name is no variable, though it names the documents elsewhere: FROM a in a subquery
// of FROM a reads the keyspace again, and FROM a.list the list of the outer document.
bool Binder::NamesKeyspace(const FromTerm& term, const Scope& scope) const {
  const Expression& root = RootOf(*term.expression);
  if (root.kind != ExprKind::kName || scope.FindExplicit(root.name, root.ignore_case) != 0) {
    return false;
  }
  const std::vector<std::string> parts = PathParts(*term.expression);
  if (parts.size() == 1 || scope.Find(root.name, root.ignore_case) == 0) return true;
  constexpr size_t kFullPath = 3;
  if (parts.size() < kFullPath) return false;
  const KeyspacePath path{.place = term.place, .name_space = "", .parts = parts};
  return ResolveKeyspace(catalog_, context_, path, guard_).has_value();
}

Status Binder::BindTerm(FromTerm& term, Scope& scope) {
  if (!term.keyspace) {
    if (NamesKeyspace(term, scope)) {
      term.keyspace =
          KeyspacePath{.place = term.place, .name_space = "", .parts = PathParts(*term.expression)};
      term.expression = nullptr;
      const LocalTable* const local = context_.FindLocal(term.keyspace->parts[0]);
      if (local != nullptr && term.keyspace->parts.size() == 1) {
        term.keyspace->name_space = "system";
        term.keyspace->parts = {local->key};
      }
    } else {
      RETURN_IF_ERROR(BindSource(term.expression, scope));
    }
  }
  if (term.use_keys) {
    if (!term.keyspace) {
      return AtPlace(QueryError(QueryCode::kPlan, "USE KEYS needs a keyspace before it"),
                     term.place);
    }
    RETURN_IF_ERROR(BindExpression(term.use_keys->keys, scope));
  }
  return OkStatus();
}

// SQLite's series has an end of its own, 4294967295; rows of a function are made before they are
// read.
Status Binder::CheckSeries(const FromTerm& term) const {
  const bool called = term.expression != nullptr && term.expression->args.size() >= 2;
  const bool is_table = term.keyspace && catalog_.FindTable(term.keyspace->parts[0]) != nullptr;
  if (called || is_table) return OkStatus();
  return AtPlace(QueryError(QueryCode::kPlan,
                            "generate_series without an end is not supported: write "
                            "generate_series(first, last) or generate_series(first, last, step)"),
                 term.place);
}

Status Binder::DeclareTerm(FromTerm& term, Scope& scope) {
  const bool series = term.expression != nullptr && term.expression->kind == ExprKind::kCall &&
                      term.expression->name == kSeries;
  const bool bare = comdb2() && term.keyspace && term.keyspace->parts.size() == 1 &&
                    term.keyspace->parts[0] == kSeries;
  if (series || bare) RETURN_IF_ERROR(CheckSeries(term));
  if (series && term.alias.empty()) term.alias = term.expression->name;
  if (comdb2() && term.alias.empty()) NameTerm(term, scope);
  if (term.alias.empty()) {
    return AtPlace(QueryError(QueryCode::kMissingAlias, "this FROM term needs a name: add AS name"),
                   term.place);
  }
  if (scope.Declares(term.alias)) {
    return AtPlace(
        QueryError(QueryCode::kDuplicateAlias,
                   "FROM has two terms named '{}': give one another name with AS", term.alias),
        term.place);
  }
  if (term.explicit_alias && scope.outer != nullptr && scope.outer->HasTable(term.alias)) {
    return AtPlace(
        QueryError(QueryCode::kDuplicateAlias,
                   "Duplicate FROM alias '{}': a query of WITH has this name", term.alias),
        term.place);
  }
  if (term.keyspace && IsSystemTable(*term.keyspace)) term.keyspace->name_space = "system";
  if (term.keyspace && IsSystemKeyspace(*term.keyspace)) {
    term.variable = variables_.Add(term.alias);
    const LocalTable* const local = context_.FindLocalByKey(term.keyspace->parts[0]);
    if (local != nullptr) variables_.all[term.variable].table = local->schema;
  } else if (term.keyspace) {
    ASSIGN_OR_RETURN(const auto keyspace,
                     ResolveKeyspace(catalog_, context_, *term.keyspace, guard_));
    term.variable = variables_.AddDocument(term.alias, *keyspace);
  } else {
    term.variable = variables_.Add(term.alias);
  }
  const bool system_table = term.keyspace && IsSystemTable(*term.keyspace);
  variables_.all[term.variable].flat = series || system_table;
  if (comdb2()) DeclareColumns(term);
  scope.names.push_back({.name = term.alias,
                         .variable = term.variable,
                         .implicit = term.keyspace.has_value() && !term.explicit_alias});
  scope.sources.push_back(term.variable);
  scope.has_from = true;
  return OkStatus();
}

Status Binder::BindJoin(JoinClause& join, Scope& scope) {
  if (join.kind == JoinKind::kUnnest) {
    RETURN_IF_ERROR(BindSource(join.term.expression, scope));
    RETURN_IF_ERROR(DeclareTerm(join.term, scope));
    const VariableId position = variables_.Add(join.term.alias + " position");
    variables_.all[join.term.variable].position = position;
    return OkStatus();
  }
  RETURN_IF_ERROR(BindTerm(join.term, scope));
  RETURN_IF_ERROR(BindOptional(join.on_keys, scope));
  RETURN_IF_ERROR(DeclareTerm(join.term, scope));
  if ((join.on_keys != nullptr || join.on_key != nullptr) && !join.term.keyspace) {
    return AtPlace(QueryError(QueryCode::kPlan, "ON KEYS needs a keyspace to its left"),
                   join.term.place);
  }
  if (join.on_key != nullptr) {
    // ON KEY t.x FOR s: t's field holds s's key, so it is a condition like any other.
    const VariableId other = scope.Find(join.on_key_for, false);
    if (other == 0 || !variables_.IsDocument(other)) {
      return AtPlace(QueryError(QueryCode::kPlan, "FOR '{}': expected an earlier keyspace's alias",
                                join.on_key_for),
                     join.term.place);
    }
    RETURN_IF_ERROR(BindExpression(join.on_key, scope));
    auto id = std::make_unique<Expression>();
    id->kind = ExprKind::kField;
    id->name = "id";
    id->args.push_back(std::make_unique<Expression>());
    id->args[0]->kind = ExprKind::kCall;
    id->args[0]->name = "meta";
    id->args[0]->args.push_back(MakeVariable(variables_, other, join.term.place));
    auto equal = std::make_unique<Expression>();
    equal->kind = ExprKind::kCall;
    equal->name = "eq";
    equal->args.push_back(std::move(join.on_key));
    equal->args.push_back(std::move(id));
    join.on = std::move(equal);
  } else {
    RETURN_IF_ERROR(BindOptional(join.on, scope));
  }
  // Later clauses also see rows without a partner.
  if (join.type == JoinType::kLeft) variables_.all[join.term.variable].may_lack = true;
  if (join.type == JoinType::kRight) {
    for (const VariableId source : scope.sources) {
      if (source != join.term.variable) variables_.all[source].may_lack = true;
    }
  }
  if (join.kind == JoinKind::kNest) {
    join.nest_variable = variables_.Add(join.term.alias);
    scope.names.back().variable = join.nest_variable;
    scope.sources.back() = join.nest_variable;
  }
  return OkStatus();
}

Status Binder::BindLet(std::vector<NamedExpression>& let, Scope& scope) {
  for (NamedExpression& named : let) {
    RETURN_IF_ERROR(BindExpression(named.expression, scope));
    if (scope.Declares(named.name)) {
      return AtPlace(
          QueryError(QueryCode::kDuplicateAlias, "there are two things named '{}'", named.name),
          named.place);
    }
    named.variable = variables_.Add(named.name);
    scope.names.push_back({named.name, named.variable});
  }
  return OkStatus();
}

Status Binder::BindProjection(Projection& projection, Scope& scope) {
  std::vector<ResultTerm> terms;
  for (ResultTerm& term : projection.terms) {
    if (term.star && term.expression == nullptr) {
      RETURN_IF_ERROR(ExpandStar(term, scope, &terms));
      continue;
    }
    if (comdb2() && term.star && ExpandTableStar(term, scope, &terms)) continue;
    const bool unnamed = term.alias.empty() && !term.star;
    if (unnamed) term.alias = ImplicitName(*term.expression);
    RETURN_IF_ERROR(BindExpression(term.expression, scope));
    if (comdb2() && unnamed) NameByColumn(term);
    terms.push_back(std::move(term));
  }
  projection.terms = std::move(terms);
  // A path names fields of the result; anything else gives such names as text.
  for (ExpressionPtr& excluded : projection.exclude) {
    if (!AsNamePath(*excluded)) RETURN_IF_ERROR(BindExpression(excluded, scope));
  }
  return CheckResultNames(projection);
}

std::optional<std::vector<json::PathStep>> AsNamePath(const Expression& expression) {
  if (expression.kind == ExprKind::kName) {
    return std::vector<json::PathStep>{json::PathStep(expression.name)};
  }
  const bool field = expression.kind == ExprKind::kField;
  const bool element = expression.kind == ExprKind::kElement && expression.args.size() == 2 &&
                       expression.args[1]->kind == ExprKind::kLiteral &&
                       expression.args[1]->value.is_int();
  if (!field && !element) return std::nullopt;
  auto path = AsNamePath(*expression.args[0]);
  if (!path) return std::nullopt;
  path->push_back(field ? json::PathStep(expression.name)
                        : json::PathStep(expression.args[1]->value.AsInt()));
  return path;
}

Status Binder::ExpandStar(const ResultTerm& star, const Scope& scope,
                          std::vector<ResultTerm>* terms) {
  const Scope* from = scope.WithFrom();
  if (from == nullptr) {
    return AtPlace(QueryError(QueryCode::kPlan, "* needs a FROM clause"), star.place);
  }
  const auto taken = [&](const std::string& name) {
    return std::ranges::any_of(*terms, [&](const ResultTerm& term) { return term.alias == name; });
  };
  for (const VariableId source : from->sources) {
    if (comdb2() && HasColumns(source)) {
      AppendColumns(source, star.place, terms);
      continue;
    }
    if (const db::TableSchema* table = TableOf(source)) {
      for (const db::TableColumn& column : table->columns) {
        ResultTerm term;
        term.place = star.place;
        term.expression = MakeColumn(source, column, star.place);
        term.alias = taken(column.name) ? variables_[source].name + "." + column.name : column.name;
        terms->push_back(std::move(term));
      }
      continue;
    }
    ResultTerm term;
    term.place = star.place;
    term.expression = MakeVariable(variables_, source, star.place);
    if (variables_[source].flat) {
      term.star = true;
    } else {
      term.alias = variables_[source].name;
      term.of_star = true;
    }
    terms->push_back(std::move(term));
  }
  return OkStatus();
}

Status Binder::CheckResultNames(Projection& projection) const {
  if (projection.raw) return OkStatus();
  if (comdb2()) NumberRepeated(projection);
  int unnamed = 0;
  std::vector<std::string> names;
  for (ResultTerm& term : projection.terms) {
    if (term.star) continue;
    if (term.alias.empty()) term.alias = fmt::format("${}", ++unnamed);
    for (const std::string& name : names) {
      if (name != term.alias) continue;
      return AtPlace(
          QueryError(QueryCode::kDuplicateResultAlias, "Duplicate result alias '{}'", term.alias),
          term.place);
    }
    names.push_back(term.alias);
  }
  return OkStatus();
}

Status Binder::BindOrder(std::vector<SortTerm>& terms, const Projection& projection, Scope& scope) {
  Scope ordered(&scope);
  ordered.results = &projection;
  for (SortTerm& term : terms) {
    ExpressionPtr column;
    if (comdb2()) {
      ASSIGN_OR_RETURN(column, TermAtPosition(*term.expression, projection));
    }
    if (column != nullptr) {
      term.expression = std::move(column);
    } else {
      RETURN_IF_ERROR(BindExpression(term.expression, ordered));
    }
    RETURN_IF_ERROR(BindOptional(term.direction, ordered));
  }
  return OkStatus();
}

}  // namespace sluice::query
