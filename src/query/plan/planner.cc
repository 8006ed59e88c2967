// Queries and blocks: everything around FROM, which plan_from.cc plans.
//
// Planning has two phases, because an expression can be compiled only when all slots are known:
// 1. PrepareQuery walks over the whole statement and records in the Layout which paths of which
//    documents it uses; each path gets a slot. FinishLayout ends this phase: no path may be added
//    after it, only slots for results.
// 2. PlanQuery builds the operators bottom-up and compiles the expressions that they need.
//
// The operators of one block, from the rows to the result:
//
//   FROM and joins, with WHERE as early as possible    PlanRows, PlanFrom
//   LET, then the conditions that use it               PlanRows
//   GROUP BY, aggregates, LETTING, HAVING              PlanGroup
//   window functions                                   PlanWindows
//   DISTINCT of the result                             PlanBlock
//   ORDER BY with LIMIT and OFFSET, or LIMIT alone     PlanOrder, PlanBlock
//   the result object                                  PlanBlock
//
// ORDER BY makes the result itself: with a LIMIT it drops most rows before their result is made.
#include "query/plan/planner.h"

#include <utility>

#include "query/bind/walk.h"
#include "query/error.h"
#include "query/exec/expr_access.h"
#include "query/exec/expr_build.h"
#include "query/exec/expr_logic.h"
#include "query/exec/subquery.h"
#include "query/exec/user_call.h"

namespace sluice::query {
namespace {

// The paths of conditions form the filter's group, which is read first: if the conditions fail, the
// rest of the document is not read.
void UseFilters(const SelectBlock& block, Layout& layout) {
  if (!block.from) return;
  std::vector<Condition> conditions = SplitConditions(block.where.get());
  for (const JoinClause& join : block.from->joins) {
    for (Condition& condition : SplitConditions(join.on.get())) {
      conditions.push_back(std::move(condition));
    }
  }
  for (const Condition& condition : conditions) {
    if (!HasSubquery(*condition.expression)) {
      layout.Use(*condition.expression, GroupNumber::kFilter);
    }
  }
}

// NEST and GROUP AS collect whole documents.
void UseWholeDocuments(const SelectBlock& block, Layout& layout) {
  if (!block.from) return;
  // An alias that is collected as a value needs the document itself, not only paths of it.
  const bool all = block.group && block.group->group_as_variable != 0;
  const auto use = [&](VariableId variable) {
    if (SourceLayout* source = layout.FindSource(variable)) {
      source->whole = true;
      source->asked_whole = true;
    }
  };
  if (all) use(block.from->first.variable);
  for (const JoinClause& join : block.from->joins) {
    if (all || join.kind == JoinKind::kNest) use(join.term.variable);
  }
}

}  // namespace

std::string ConditionsText(const std::vector<Condition>& conditions) {
  std::string text;
  for (const Condition& condition : conditions) {
    text += (text.empty() ? "" : " AND ") + ToText(*condition.expression);
  }
  return text;
}

// A subquery reads other documents and must not run before the cheap conditions have been checked,
// so it does not belong to the filter's group of paths.
void Planner::PrepareWhere(const Expression* where) {
  if (where == nullptr) return;
  const bool simple = !HasSubquery(*where);
  layout_->Use(*where, simple ? GroupNumber::kFilter : GroupNumber::kRest);
}

void Planner::PrepareQuery(Query& query) {
  // Filters first: a path keeps the group in which it was used first (Layout::Use).
  ForEachBlock(query, [this](SelectBlock& block) { UseFilters(block, *layout_); });
  ForEachRoot(query, [this](ExpressionPtr& root) { Prepare(*root); });
  ForEachBlock(query, [this](SelectBlock& block) { UseWholeDocuments(block, *layout_); });
}

Result<QueryPlan> Planner::Plan(Query& query) {
  PrepareQuery(query);
  FinishLayout();
  return PlanQuery(query);
}

Result<std::shared_ptr<const QueryPlan>> Planner::PlanSubquery(const Query& query) {
  ASSIGN_OR_RETURN(QueryPlan plan, PlanQuery(query));
  return std::make_shared<const QueryPlan>(std::move(plan));
}

Result<QueryPlan> Planner::PlanQuery(const Query& query) {
  // Inside a correlated query everything may run again for each outer row, so plans there must not
  // keep rows from one run to the next (MakeMaterialized, HashJoinOptions::once).
  const bool outer = std::exchange(correlated_, correlated_ || query.correlated);
  Result<QueryPlan> plan = [&]() -> Result<QueryPlan> {
    // ORDER BY and LIMIT of a single block are planned with it: the sort may come from an index,
    // and may use variables of the block. Those of a set operation only see its result.
    if (const auto* block = std::get_if<std::unique_ptr<SelectBlock>>(&query.body)) {
      return PlanBlock(**block, &query);
    }
    ASSIGN_OR_RETURN(QueryPlan body, PlanBody(query.body));
    if (query.order_by.empty()) {
      ASSIGN_OR_RETURN(ExprPtr limit, compiler_.CompileOptional(query.limit));
      ASSIGN_OR_RETURN(ExprPtr offset, compiler_.CompileOptional(query.offset));
      if (limit != nullptr || offset != nullptr) {
        body.root = Counted(MakeLimit(std::move(body.root), std::move(limit), std::move(offset)));
      }
      return body;
    }
    // ORDER BY sees the row of the result as a variable.
    PlanPtr rows =
        MakeProject(std::move(body.root), MakeSlot(body.result), query.result_variable, "rows");
    const Slot slot = layout_->NewSlot();
    ASSIGN_OR_RETURN(PlanPtr root,
                     PlanOrder(query.order_by, query.limit, query.offset, std::move(rows),
                               MakeSlot(query.result_variable), slot));
    return QueryPlan{.root = std::move(root), .result = slot};
  }();
  correlated_ = outer;
  if (!plan || query.with.empty()) return plan;
  ASSIGN_OR_RETURN(plan->root, PlanWith(query, std::move(plan->root)));
  return plan;
}

Result<QueryPlan> Planner::PlanBody(const QueryBody& body) {
  if (const auto* block = std::get_if<std::unique_ptr<SelectBlock>>(&body)) {
    return PlanBlock(**block, nullptr);
  }
  if (const auto* query = std::get_if<QueryPtr>(&body)) return PlanQuery(**query);
  const SetOperation& operation = *std::get<std::unique_ptr<SetOperation>>(body);
  SetOperationOptions options;
  options.op = operation.op;
  options.all = operation.all;
  ASSIGN_OR_RETURN(options.left, PlanBody(operation.left));
  ASSIGN_OR_RETURN(options.right, PlanBody(operation.right));
  options.result = layout_->NewSlot();
  const Slot result = options.result;
  return QueryPlan{.root = Counted(MakeSetOperation(std::move(options))), .result = result};
}

Result<QueryPlan> Planner::PlanBlock(const SelectBlock& block, const Query* ordered) {
  NoteHintComments(block);
  // Groups and windows produce rows in an order of their own.
  const bool keeps_order = ordered != nullptr && !block.group && block.window_calls.empty();
  // Only a hint to the access path: rows.sorted says whether the rows really come in that order.
  ASSIGN_OR_RETURN(RowPlan rows, PlanRows(block, keeps_order ? &ordered->order_by : nullptr));
  if (block.group) {
    ASSIGN_OR_RETURN(rows.plan, PlanGroup(block, std::move(rows.plan)));
    rows.variables = {};
    for (const NamedExpression& key : block.group->keys) {
      rows.variables.slots.push_back(key.variable);
    }
    for (const NamedExpression& aggregate : block.aggregates) {
      rows.variables.slots.push_back(aggregate.variable);
    }
    for (const NamedExpression& letting : block.group->letting) {
      rows.variables.slots.push_back(letting.variable);
    }
    if (block.group->group_as_variable != 0) {
      rows.variables.slots.push_back(block.group->group_as_variable);
    }
  }
  if (!block.window_calls.empty()) {
    ASSIGN_OR_RETURN(rows.plan, PlanWindows(block, std::move(rows.plan), rows.variables));
  }
  ASSIGN_OR_RETURN(ExprPtr result, CompileProjection(block.projection));
  const Slot slot = layout_->NewSlot();
  // DISTINCT compares results, so the result is made before the sort.
  if (block.projection.distinct) {
    rows.plan = Counted(
        MakeDistinct(MakeProject(std::move(rows.plan), std::move(result), slot, "distinct"), slot));
    result = MakeSlot(slot);
  }
  if (ordered != nullptr && !ordered->order_by.empty() && !rows.sorted) {
    ASSIGN_OR_RETURN(rows.plan, PlanOrder(ordered->order_by, ordered->limit, ordered->offset,
                                          std::move(rows.plan), std::move(result), slot));
    return QueryPlan{.root = std::move(rows.plan), .result = slot};
  }
  if (ordered != nullptr && (ordered->limit != nullptr || ordered->offset != nullptr)) {
    ASSIGN_OR_RETURN(ExprPtr limit, compiler_.CompileOptional(ordered->limit));
    ASSIGN_OR_RETURN(ExprPtr offset, compiler_.CompileOptional(ordered->offset));
    rows.plan = Counted(MakeLimit(std::move(rows.plan), std::move(limit), std::move(offset)));
  }
  if (!block.projection.distinct) {
    rows.plan = Counted(MakeProject(std::move(rows.plan), std::move(result), slot,
                                    ProjectionText(block.projection)));
  }
  return QueryPlan{.root = std::move(rows.plan), .result = slot};
}

Result<RowPlan> Planner::PlanRows(const SelectBlock& block,
                                  const std::vector<SortTerm>* wanted_order) {
  std::vector<Condition> where = SplitConditions(block.where.get());
  // PlanFrom takes conditions out of `where` as soon as their
  // variables are set. A LET is computed after all joins, so its conditions are kept back.
  const auto of_let = std::ranges::stable_partition(where, [&](const Condition& condition) {
    return std::ranges::none_of(
        block.let, [&](const NamedExpression& let) { return condition.Uses(let.variable); });
  });
  const std::vector<Condition> late(of_let.begin(), of_let.end());
  where.erase(of_let.begin(), of_let.end());
  RowPlan rows;
  if (block.from) {
    ASSIGN_OR_RETURN(rows, PlanFrom(*block.from, &where, wanted_order));
  } else {
    rows.plan = MakeDual();
  }
  if (!block.let.empty()) {
    std::vector<SlotAssignment> assignments;
    for (const NamedExpression& let : block.let) {
      SlotAssignment assignment{.slot = let.variable, .value = nullptr, .name = let.name};
      ASSIGN_OR_RETURN(assignment.value, compiler_.Compile(*let.expression));
      assignments.push_back(std::move(assignment));
      rows.variables.slots.push_back(let.variable);
    }
    rows.plan = MakeLet(std::move(rows.plan), std::move(assignments));
  }
  where.insert(where.end(), late.begin(), late.end());
  ASSIGN_OR_RETURN(rows.plan, AddFilter(std::move(rows.plan), where));
  return rows;
}

Result<ExprPtr> Planner::CompileConditions(const std::vector<Condition>& conditions) {
  std::vector<ExprPtr> operands;
  for (const Condition& condition : conditions) {
    ASSIGN_OR_RETURN(ExprPtr operand, compiler_.Compile(*condition.expression));
    operands.push_back(std::move(operand));
  }
  if (operands.empty()) return ExprPtr();
  if (operands.size() == 1) return std::move(operands[0]);
  return MakeAnd(std::move(operands));
}

Result<PlanPtr> Planner::AddFilter(PlanPtr input, const std::vector<Condition>& conditions) {
  ASSIGN_OR_RETURN(ExprPtr condition, CompileConditions(conditions));
  if (condition == nullptr) return input;
  return Counted(MakeFilter(std::move(input), std::move(condition), ConditionsText(conditions)));
}

// After it only the keys, the aggregates, LETTING and GROUP AS have values: the binder has checked
// that the rest of the block uses nothing else, and PlanBlock forgets the variables of the rows.
Result<PlanPtr> Planner::PlanGroup(const SelectBlock& block, PlanPtr input) {
  GroupOptions options;
  options.input = std::move(input);
  for (const NamedExpression& key : block.group->keys) {
    SlotAssignment assignment{
        .slot = key.variable, .value = nullptr, .name = ToText(*key.expression)};
    ASSIGN_OR_RETURN(assignment.value, compiler_.Compile(*key.expression));
    options.keys.push_back(std::move(assignment));
  }
  for (const NamedExpression& named : block.aggregates) {
    ASSIGN_OR_RETURN(AggregateExpr aggregate, CompileAggregate(*named.expression));
    aggregate.slot = named.variable;
    options.aggregates.push_back(std::move(aggregate));
  }
  if (block.group->group_as_variable != 0) {
    ASSIGN_OR_RETURN(options.group_item, CompileGroupItem(block));
    options.group_slot = block.group->group_as_variable;
  }
  PlanPtr plan = Counted(MakeGroup(std::move(options)));
  if (!block.group->letting.empty()) {
    std::vector<SlotAssignment> assignments;
    for (const NamedExpression& let : block.group->letting) {
      SlotAssignment assignment{.slot = let.variable, .value = nullptr, .name = let.name};
      ASSIGN_OR_RETURN(assignment.value, compiler_.Compile(*let.expression));
      assignments.push_back(std::move(assignment));
    }
    plan = MakeLet(std::move(plan), std::move(assignments));
  }
  return AddFilter(std::move(plan), SplitConditions(block.group->having.get()));
}

// User-defined aggregates take any number of arguments, as an array.
Result<AggregateExpr> Planner::CompileUserAggregate(const Expression& call) {
  AggregateExpr aggregate;
  aggregate.function = &UserAggregateFunction();
  aggregate.user_function = call.user_function;
  aggregate.distinct = call.distinct;
  aggregate.text = ToText(call);
  ASSIGN_OR_RETURN(std::vector<ExprPtr> arguments, compiler_.CompileAll(call.args));
  aggregate.argument = MakeArray(std::move(arguments));
  ASSIGN_OR_RETURN(aggregate.filter, compiler_.CompileOptional(call.filter));
  return aggregate;
}

Result<AggregateExpr> Planner::CompileAggregate(const Expression& call) {
  if (call.user_function != nullptr) return CompileUserAggregate(call);
  const bool star = call.args.size() == 1 && call.args[0]->kind == ExprKind::kStar;
  if (call.args.size() != 1 || (star && call.name != "count")) {
    return Unexpected(
        AtPlace(QueryError(QueryCode::kSyntax, "{}() takes one argument", call.name), call.place));
  }
  AggregateExpr aggregate;
  aggregate.function = FindAggregate(star ? "count_star" : call.name);
  aggregate.distinct = call.distinct && !star;
  aggregate.text = ToText(call);
  if (!star) {
    ASSIGN_OR_RETURN(aggregate.argument, compiler_.Compile(*call.args[0]));
  }
  ASSIGN_OR_RETURN(aggregate.filter, compiler_.CompileOptional(call.filter));
  return aggregate;
}

// GROUP AS collects an object with one field for each FROM term.
Result<ExprPtr> Planner::CompileGroupItem(const SelectBlock& block) {
  std::vector<ResultEntry> entries;
  const auto add = [&](VariableId variable) -> Status {
    Expression reference;
    reference.kind = ExprKind::kVariable;
    reference.variable = variable;
    ResultEntry entry{.name = Value(variables_[variable].name)};
    ASSIGN_OR_RETURN(entry.value, compiler_.Compile(reference));
    entries.push_back(std::move(entry));
    return OkStatus();
  };
  if (block.from) {
    RETURN_IF_ERROR(add(block.from->first.variable));
    for (const JoinClause& join : block.from->joins) {
      RETURN_IF_ERROR(add(join.nest_variable != 0 ? join.nest_variable : join.term.variable));
    }
  }
  return MakeResultObject(std::move(entries));
}

Result<std::vector<SortKey>> Planner::CompileSortKeys(const std::vector<SortTerm>& terms) {
  std::vector<SortKey> keys;
  for (const SortTerm& term : terms) {
    SortKey key{.value = nullptr, .descending = term.descending, .nulls = term.nulls};
    key.text = ToText(*term.expression);
    ASSIGN_OR_RETURN(key.value, compiler_.Compile(*term.expression));
    ASSIGN_OR_RETURN(key.direction, compiler_.CompileOptional(term.direction));
    keys.push_back(std::move(key));
  }
  return keys;
}

Result<PlanPtr> Planner::PlanOrder(const std::vector<SortTerm>& terms, const ExpressionPtr& limit,
                                   const ExpressionPtr& offset, PlanPtr input, ExprPtr result,
                                   Slot slot) {
  SortOptions options;
  options.input = std::move(input);
  ASSIGN_OR_RETURN(options.keys, CompileSortKeys(terms));
  options.result = std::move(result);
  options.slot = slot;
  ASSIGN_OR_RETURN(options.limit, compiler_.CompileOptional(limit));
  ASSIGN_OR_RETURN(options.offset, compiler_.CompileOptional(offset));
  return Counted(MakeSort(std::move(options)));
}

// RAW is the value itself; otherwise an object of the terms. EXCLUDE removes paths of that object.
// With exactly one `*` its paths may also be written without the alias (ExcludeParts::star).
Result<ExprPtr> Planner::CompileProjection(const Projection& projection) {
  if (projection.raw) {
    ASSIGN_OR_RETURN(ExprPtr raw, compiler_.Compile(*projection.terms[0].expression));
    return raw;
  }
  std::vector<ResultEntry> entries;
  for (const ResultTerm& term : projection.terms) {
    ResultEntry entry{.name = Value(term.alias), .spread = term.star};
    ASSIGN_OR_RETURN(entry.value, compiler_.Compile(*term.expression));
    entries.push_back(std::move(entry));
  }
  ExprPtr result = MakeResultObject(std::move(entries));
  if (projection.exclude.empty()) return result;
  ExcludeParts parts;
  for (const ExpressionPtr& excluded : projection.exclude) {
    if (auto path = AsNamePath(*excluded)) {
      parts.paths.push_back(std::move(*path));
    } else {
      ASSIGN_OR_RETURN(ExprPtr names, compiler_.Compile(*excluded));
      parts.names.push_back(std::move(names));
    }
  }
  std::vector<std::string> stars;
  for (const ResultTerm& term : projection.terms) {
    if (term.of_star) stars.push_back(term.alias);
    const Expression& value = *term.expression;
    if (term.star && value.kind == ExprKind::kVariable) parts.spread.push_back(value.name);
  }
  if (stars.size() == 1) parts.star = stars[0];
  parts.object = std::move(result);
  return MakeExclude(std::move(parts));
}

std::string Planner::ProjectionText(const Projection& projection) {
  std::string text;
  for (const ResultTerm& term : projection.terms) {
    text += (text.empty() ? "" : ", ") + ToText(*term.expression) + (term.star ? ".*" : "");
  }
  return text;
}

Result<PlanPtr> Planner::PlanWith(const Query& query, PlanPtr input) {
  std::vector<TableDefinition> tables;
  for (const CommonTable& table : query.with) {
    ASSIGN_OR_RETURN(TableDefinition definition, PlanTable(query, table));
    tables.push_back(std::move(definition));
  }
  return Counted(MakeWith(std::move(input), std::move(tables)));
}

namespace {

// OPTIONS {"levels": n, "documents": n} of a recursive table.
Status ReadTableOptions(const CommonTable& table, TableDefinition* definition) {
  if (!table.options) return OkStatus();
  const auto wrong = [&](std::string_view what) {
    return AtPlace(
        QueryError(QueryCode::kPlan, "OPTIONS of WITH RECURSIVE {}: {}", table.name, what),
        table.place);
  };
  if (!table.options->is_object()) return wrong("expected an object");
  for (const json::Field& field : table.options->fields()) {
    uint64_t* const limit = field.name() == "levels"      ? &definition->max_levels
                            : field.name() == "documents" ? &definition->max_documents
                                                          : nullptr;
    if (limit == nullptr) {
      return wrong(fmt::format("'{}' is unknown; there are levels and documents", field.name()));
    }
    if (!field.value.is_int() || field.value.AsInt() < 0) {
      return wrong(fmt::format("{} takes a whole number that is not negative", field.name()));
    }
    *limit = static_cast<uint64_t>(field.value.AsInt());
  }
  return OkStatus();
}

}  // namespace

Result<TableDefinition> Planner::PlanTable(const Query& query, const CommonTable& table) {
  TableDefinition definition{.name = table.name, .slot = table.variable};
  const Expression& expression = *table.expression;
  const std::vector<VariableId> uses = ReferencedVariables(expression);
  const bool recursive = query.recursive && std::ranges::binary_search(uses, table.variable);
  if (!recursive) {
    if (table.options || !table.cycle.empty()) {
      return Unexpected(AtPlace(QueryError(QueryCode::kPlan, "'{}' is not recursive: it has no {}",
                                           table.name, table.options ? "OPTIONS" : "CYCLE"),
                                table.place));
    }
    ASSIGN_OR_RETURN(definition.value, compiler_.Compile(expression));
    return definition;
  }
  // A recursive table is `first rows UNION next rows`: the left side runs once, the right side
  // again and again with the table's slot set to the rows of the round before, until a round gives
  // none or a limit is reached.
  const auto* operation = expression.kind == ExprKind::kSubquery
                              ? std::get_if<std::unique_ptr<SetOperation>>(&expression.query->body)
                              : nullptr;
  if (operation == nullptr || (*operation)->op != SetOperator::kUnion) {
    return Unexpected(AtPlace(
        QueryError(QueryCode::kPlan,
                   "the recursive table '{}' must be its first rows UNION [ALL] its next rows",
                   table.name),
        table.place));
  }
  ASSIGN_OR_RETURN(QueryPlan start, PlanBody((*operation)->left));
  // Each round reads other rows, so the plan of the step must not keep rows from one round to the
  // next.
  const bool outer = std::exchange(correlated_, true);
  auto step = PlanBody((*operation)->right);
  correlated_ = outer;
  if (!step) return Unexpected(step.error());
  definition.value = MakeSubquery(std::make_shared<const QueryPlan>(std::move(start)),
                                  {.correlated = true, .number = layout_->NewSubquery()});
  definition.step = std::make_shared<const QueryPlan>(std::move(*step));
  definition.distinct = !(*operation)->all;
  RETURN_IF_ERROR(ReadTableOptions(table, &definition));
  for (const ExpressionPtr& field : table.cycle) definition.cycle_fields.push_back(field->name);
  return definition;
}

}  // namespace sluice::query
