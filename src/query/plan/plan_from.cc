// FROM: the first term, then join after join, in the order of the text. There is no search over
// join orders.
//
// A condition of WHERE is checked as soon as all variables that it uses are set. The list `where`
// holds the conditions that are still to be checked. Each scan and join takes those that it can
// check (Take); the rest is checked after the last join.
//
// Outer joins limit this. A condition on the right side of a LEFT JOIN must see the rows that the
// join makes up (with MISSING), so it waits until after the last join. A RIGHT JOIN makes up rows
// for everything to its left, so with one in the FROM all conditions wait.
//
// For each join, the partners of a left row are found in one of these ways, the first that fits:
// 1. The right side can be found by key or through an index with values of the left row: it is
//    opened again for each left row (RowPlan::lookup).
// 2. A condition has the form left = right: a hash join. The right side is read once.
// 3. Otherwise a nested loop over the right side, whose rows are kept in memory (MakeMaterialized)
//    unless the query is correlated.
#include <utility>

#include "query/error.h"
#include "query/exec/expr_access.h"
#include "query/exec/expr_logic.h"
#include "query/plan/access.h"
#include "query/plan/planner.h"
#include "query/plan/traffic_use.h"

namespace sluice::query {
namespace {

VariableId VariableOf(const JoinClause& join) {
  return join.nest_variable != 0 ? join.nest_variable : join.term.variable;
}

// In the order in which they are set; the variable of a join comes after the position of its
// element.
std::vector<VariableId> AllVariables(const FromClause& from, const Variables& variables) {
  std::vector<VariableId> all{from.first.variable};
  for (const JoinClause& join : from.joins) {
    if (const VariableId position = variables[VariableOf(join)].position; position != 0) {
      all.push_back(position);
    }
    all.push_back(VariableOf(join));
  }
  return all;
}

// Takes out of `conditions` those that use `variable` and, of `all`, only variables in `known`.
std::vector<Condition> Take(std::vector<Condition>* conditions, VariableId variable,
                            const std::vector<VariableId>& known,
                            const std::vector<VariableId>& all) {
  std::vector<Condition> taken;
  std::erase_if(*conditions, [&](Condition& condition) {
    if (!condition.Uses(variable) || !condition.UsesOnly(known, all)) return false;
    taken.push_back(condition);
    return true;
  });
  return taken;
}

bool HasRightJoin(const FromClause& from) {
  return std::ranges::any_of(from.joins,
                             [](const JoinClause& join) { return join.type == JoinType::kRight; });
}

// Whether rows come in the order of the first term: not if a hash join reads a later term row by
// row and keeps the rows before it in its table.
bool KeepsOrder(const FromClause& from) {
  return !HasRightJoin(from) && std::ranges::none_of(from.joins, [](const JoinClause& join) {
    return join.term.join_method == JoinMethodHint::kHashProbe;
  });
}

// Whether ORDER BY has terms after the key of the first term that can matter: joins make several
// rows of one document, and the scan does not order these.
bool OrdersPartners(const FromClause& from, const std::vector<SortTerm>& order) {
  if (from.joins.empty() || order.size() < 2) return false;
  const auto meta = AsMeta(*order.front().expression);
  return meta && meta->variable == from.first.variable && meta->field == "id";
}

// left = right, where one side uses `variable` and no variable of the left rows, and the other does
// not use `variable`.
struct JoinKey {
  const Expression* left = nullptr;
  const Expression* right = nullptr;
};

// A side may use variables of outer queries: they are the same for all rows. A condition with a
// subquery can't be a key: it is checked on each pair of rows.
std::optional<JoinKey> AsJoinKey(const Condition& condition, VariableId variable,
                                 const std::vector<VariableId>& others) {
  const Expression& e = *condition.expression;
  if (e.kind != ExprKind::kCall || e.name != "eq" || HasSubquery(e)) return std::nullopt;
  const auto mine = [&](const Expression& side) {
    const auto variables = ReferencedVariables(side);
    return std::ranges::binary_search(variables, variable) &&
           std::ranges::none_of(variables, [&](VariableId v) {
             return std::ranges::find(others, v) != others.end();
           });
  };
  const auto other = [&](const Expression& side) {
    return !std::ranges::binary_search(ReferencedVariables(side), variable);
  };
  if (mine(*e.args[1]) && other(*e.args[0])) return JoinKey{e.args[0].get(), e.args[1].get()};
  if (mine(*e.args[0]) && other(*e.args[1])) return JoinKey{e.args[1].get(), e.args[0].get()};
  return std::nullopt;
}

}  // namespace

Result<RowPlan> Planner::PlanFrom(const FromClause& from, std::vector<Condition>* where,
                                  const std::vector<SortTerm>* wanted_order) {
  const std::vector<VariableId> all = AllVariables(from, variables_);
  std::vector<Condition> mine;
  // Nested loops and hash joins keep the order of their left rows, so the order of the first term's
  // scan is that of the result, unless one of these exceptions holds.
  if (!KeepsOrder(from) || (wanted_order != nullptr && OrdersPartners(from, *wanted_order))) {
    wanted_order = nullptr;
  }
  NoteJoinHint(from.first, "nothing stands before it to join it with");
  // A RIGHT JOIN makes rows without the terms before it, so their conditions wait.
  if (!HasRightJoin(from)) {
    mine = Take(where, all[0], {all[0]}, all);
    AddUnnested(from, *where, &mine);
  }
  // A keyspace takes all of `mine` and leaves it empty; other sources leave the conditions to the
  // filter after them.
  ASSIGN_OR_RETURN(RowPlan rows, PlanSource(from.first, &mine, wanted_order));
  const bool sorted = rows.sorted;
  ASSIGN_OR_RETURN(rows.plan, AddFilter(std::move(rows.plan), mine));
  std::vector<Condition> none;
  for (const JoinClause& join : from.joins) {
    ASSIGN_OR_RETURN(rows,
                     PlanJoin(std::move(rows), join, HasRightJoin(from) ? &none : where, all));
  }
  rows.sorted = sorted;
  return rows;
}

// FROM d UNNEST d.list AS v WHERE v.x = 1: ANY v IN d.list SATISFIES v.x = 1 END holds for the
// documents of all rows, which an array index may find.
void Planner::AddUnnested(const FromClause& from, const std::vector<Condition>& where,
                          std::vector<Condition>* conditions) {
  if (!from.first.keyspace || IsSystemKeyspace(*from.first.keyspace)) return;
  for (const JoinClause& join : from.joins) {
    if (join.kind != JoinKind::kUnnest || join.type != JoinType::kInner) continue;
    const VariableId element = join.term.variable;
    if (ReferencedVariables(*join.term.expression) != std::vector{from.first.variable}) continue;
    auto all = std::make_unique<Expression>();
    all->kind = ExprKind::kCall;
    all->name = "and";
    for (const Condition& condition : where) {
      if (condition.variables == std::vector{element} && !HasSubquery(*condition.expression)) {
        all->args.push_back(Clone(*condition.expression));
      }
    }
    if (all->args.empty()) continue;
    auto any = std::make_unique<Expression>();
    any->kind = ExprKind::kAny;
    any->comprehension = std::make_unique<Comprehension>();
    RangeBinding& range = any->comprehension->bindings.emplace_back();
    range.value = join.term.alias;
    range.value_id = element;
    range.source = Clone(*join.term.expression);
    any->comprehension->body = std::move(all);
    conditions->push_back(
        {.expression = any.get(), .variables = {from.first.variable, element}, .implied = true});
    made_.push_back(std::move(any));
  }
}

// A keyspace checks the conditions itself (Access) and clears them. `lookup` is true if the plan
// uses variables of rows before it.
Result<RowPlan> Planner::PlanSource(const FromTerm& term, std::vector<Condition>* conditions,
                                    const std::vector<SortTerm>* wanted_order) {
  RowPlan rows;
  rows.known = {term.variable};
  if (term.keyspace && IsSystemKeyspace(*term.keyspace)) {
    rows.plan = MakeSystemScan(term.keyspace->parts.back(), term.variable, term.alias);
    rows.variables.slots = {term.variable};
  } else if (term.keyspace) {
    Access access(*this, term, *conditions);
    ASSIGN_OR_RETURN(Access::Choice choice, access.Choose(wanted_order));
    if (!choice.by_index && !term.use_index.empty()) NoteIndexHint(term);
    rows.plan = std::move(choice.plan);
    rows.lookup = choice.lookup;
    rows.sorted = choice.sorted;
    rows.variables.sources = {layout_->SourceIndex(term.variable)};
    conditions->clear();
  } else if (term.expression->kind == ExprKind::kSubquery) {
    ASSIGN_OR_RETURN(auto query, PlanSubquery(*term.expression->query));
    rows.plan = MakeQueryScan(std::move(query), term.variable, term.alias);
    rows.lookup = term.expression->query->correlated;
    rows.variables.slots = {term.variable};
  } else {
    ValueScanOptions options{.slot = term.variable, .alias = term.alias};
    options.text = ToText(*term.expression);
    ASSIGN_OR_RETURN(options.value, compiler_.Compile(*term.expression));
    rows.plan = MakeValueScan(std::move(options));
    rows.lookup = !ReferencedVariables(*term.expression).empty();
    rows.variables.slots = {term.variable};
  }
  rows.plan = Counted(std::move(rows.plan));
  return rows;
}

Result<RowPlan> Planner::PlanTarget(const FromTerm& term, const Expression* where) {
  std::vector<Condition> conditions = SplitConditions(where);
  return PlanSource(term, &conditions);
}

// MERGE: the source LEFT JOINed with the target.
Result<RowPlan> Planner::PlanMergeRows(const FromTerm& source, const JoinClause& join) {
  std::vector<Condition> none;
  ASSIGN_OR_RETURN(RowPlan rows, PlanSource(source, &none));
  if (join.on_keys != nullptr) return PlanKeysJoin(std::move(rows), join);
  return PlanConditionJoin(std::move(rows), join, SplitConditions(join.on.get()));
}

SourceTarget Planner::TargetOf(VariableId document) const {
  const Variable& variable = variables_[document];
  return {.source = layout_->SourceIndex(document),
          .keyspace = variable.keyspace,
          .name = variable.keyspace_name,
          .alias = variable.name};
}

Result<RowPlan> Planner::PlanJoin(RowPlan left, const JoinClause& join,
                                  std::vector<Condition>* where,
                                  const std::vector<VariableId>& all) {
  const VariableId variable = VariableOf(join);
  std::vector<VariableId> known = left.known;
  if (variables_[variable].position != 0) known.push_back(variables_[variable].position);
  known.push_back(variable);
  RowPlan rows;
  if (join.kind == JoinKind::kUnnest) {
    NoteJoinHint(join.term, "UNNEST has one way to run");
    ASSIGN_OR_RETURN(rows, PlanUnnest(std::move(left), join));
  } else if (join.on_keys != nullptr) {
    joins_.merge(KeysJoinOf(variables_, join.term.variable, *join.on_keys));
    NoteHashHint(join.term, "ON KEYS reads the documents by their keys");
    ASSIGN_OR_RETURN(rows, PlanKeysJoin(std::move(left), join));
  } else {
    std::vector<Condition> conditions = SplitConditions(join.on.get());
    // Of an inner join WHERE and ON mean the same, and WHERE may offer a key or an index.
    if (join.type == JoinType::kInner && join.kind == JoinKind::kJoin) {
      for (Condition& condition : Take(where, variable, known, all)) {
        conditions.push_back(std::move(condition));
      }
    }
    joins_.merge(JoinsOf(variables_, join.term.variable, left.known, conditions));
    if (join.type == JoinType::kRight) {
      ASSIGN_OR_RETURN(rows, PlanRightJoin(std::move(left), join, std::move(conditions)));
    } else {
      ASSIGN_OR_RETURN(rows, PlanConditionJoin(std::move(left), join, std::move(conditions)));
    }
  }
  rows.known = known;
  // After the last join the rest of `where` is checked. (With a RIGHT JOIN `where` is empty here,
  // and PlanRows checks all conditions.)
  if (all.back() == variable || join.type == JoinType::kInner) {
    std::vector<Condition> now;
    const bool last = all.back() == variable;
    if (last) {
      for (const VariableId each : known) {
        for (Condition& condition : Take(where, each, known, all)) {
          now.push_back(std::move(condition));
        }
      }
    }
    ASSIGN_OR_RETURN(rows.plan, AddFilter(std::move(rows.plan), now));
  }
  return rows;
}

// A nested loop over the elements of an array of the left row.
Result<RowPlan> Planner::PlanUnnest(RowPlan left, const JoinClause& join) {
  ValueScanOptions options{
      .slot = join.term.variable, .arrays_only = true, .alias = join.term.alias};
  const Variable& element = variables_[join.term.variable];
  if (element.position_used) options.position_slot = element.position;
  options.text = ToText(*join.term.expression);
  ASSIGN_OR_RETURN(options.value, compiler_.Compile(*join.term.expression));
  RowPlan right;
  right.plan = Counted(MakeValueScan(std::move(options)));
  right.lookup = true;
  right.variables.slots = {join.term.variable};
  if (element.position_used) right.variables.slots.push_back(element.position);
  return FinishJoin(std::move(left), std::move(right), join, nullptr, nullptr);
}

Result<RowPlan> Planner::PlanKeysJoin(RowPlan left, const JoinClause& join) {
  KeyScanOptions options{.target = TargetOf(join.term.variable)};
  ASSIGN_OR_RETURN(options.keys, compiler_.Compile(*join.on_keys));
  // Compiled twice: the scan and NEST each need one, and expressions are not shared.
  ASSIGN_OR_RETURN(ExprPtr keys, compiler_.Compile(*join.on_keys));
  RowPlan right;
  right.plan = Counted(MakeKeyScan(std::move(options)));
  right.lookup = true;
  right.variables.sources = {layout_->SourceIndex(join.term.variable)};
  return FinishJoin(std::move(left), std::move(right), join, nullptr, std::move(keys));
}

Result<RowPlan> Planner::PlanConditionJoin(RowPlan left, const JoinClause& join,
                                           std::vector<Condition> conditions) {
  const VariableId variable = join.term.variable;
  const bool hashable = join.kind == JoinKind::kJoin &&
                        std::ranges::any_of(conditions, [&](const Condition& condition) {
                          return AsJoinKey(condition, variable, left.known).has_value();
                        });
  if (!hashable) {
    NoteHashHint(join.term, join.kind == JoinKind::kNest
                                ? "NEST looks its documents up for each row"
                                : "no condition has the form left = right");
  }
  if (join.term.keyspace && !IsSystemKeyspace(*join.term.keyspace) &&
      !(hashable && WantsHash(join.term))) {
    // With all conditions, the right side may be found by key or through an index for each left
    // row.
    const size_t notes = hint_notes_.size();
    std::vector<Condition> all = conditions;
    ASSIGN_OR_RETURN(RowPlan right, PlanSource(join.term, &all));
    if (right.lookup) {
      return FinishJoin(std::move(left), std::move(right), join, nullptr, nullptr);
    }
    // This attempt is dropped, and so are its remarks on hints.
    hint_notes_.resize(notes);
  }
  // Otherwise the right side is read once, with the conditions that use only it.
  std::vector<Condition> own;
  std::erase_if(conditions, [&](Condition& condition) {
    if (HasSubquery(*condition.expression) || !condition.Uses(variable) ||
        !condition.UsesOnly({}, left.known)) {
      return false;
    }
    own.push_back(condition);
    return true;
  });
  ASSIGN_OR_RETURN(RowPlan right, PlanSource(join.term, &own));
  ASSIGN_OR_RETURN(right.plan, AddFilter(std::move(right.plan), own));
  // A right side that is found anew for each left row has no single table of rows.
  const bool by_hash =
      hashable && !right.lookup && join.term.join_method != JoinMethodHint::kNestedLoop;
  if (hashable && right.lookup)
    NoteHashHint(join.term, "its rows are found for each row before it");
  if (!by_hash) {
    ASSIGN_OR_RETURN(ExprPtr rest, CompileConditions(conditions));
    // The rows are read once and kept. In a correlated query they may differ for each outer row.
    if (!right.lookup && !correlated_) {
      right.plan = MakeMaterialized(std::move(right.plan), right.variables, layout_.get());
    }
    return FinishJoin(std::move(left), std::move(right), join, std::move(rest), nullptr);
  }
  HashJoinOptions hash;
  ASSIGN_OR_RETURN(const std::vector<Condition> keys,
                   TakeJoinKeys(&conditions, variable, left.known, &hash));
  hash.text = ConditionsText(keys);
  ASSIGN_OR_RETURN(hash.condition, CompileConditions(conditions));
  return PlanHashJoin(std::move(left), std::move(right), join, std::move(hash));
}

// The table holds the right side's rows or, with USE HASH (PROBE), the left side's.
Result<RowPlan> Planner::PlanHashJoin(RowPlan left, RowPlan right, const JoinClause& join,
                                      HashJoinOptions hash) {
  RowPlan rows;
  rows.variables = left.variables;
  rows.variables.Add(right.variables);
  hash.outer = join.type == JoinType::kLeft;
  bool turned = join.term.join_method == JoinMethodHint::kHashProbe;
  if (turned && hash.outer) {
    NoteJoinHint(join.term, "a LEFT JOIN keeps the rows of its left, which must look for partners");
    turned = false;
  }
  if (turned) {
    std::swap(left, right);
    std::swap(hash.left_keys, hash.right_keys);
  }
  hash.left = std::move(left.plan);
  hash.right = std::move(right.plan);
  hash.right_variables = std::move(right.variables);
  hash.layout = layout_.get();
  // As with MakeMaterialized: the table may be kept for the whole statement.
  hash.once = !correlated_;
  rows.plan = Counted(MakeHashJoin(std::move(hash)));
  return rows;
}

// A LEFT JOIN with the sides swapped: from the new term to everything before it.
Result<RowPlan> Planner::PlanRightJoin(RowPlan left, const JoinClause& join,
                                       std::vector<Condition> conditions) {
  std::vector<Condition> none;
  ASSIGN_OR_RETURN(RowPlan right, PlanSource(join.term, &none));
  if (join.kind != JoinKind::kJoin) {
    return Unexpected(
        AtPlace(QueryError(QueryCode::kPlan, "RIGHT NEST: use LEFT NEST"), join.term.place));
  }
  RowPlan rows;
  rows.variables = left.variables;
  rows.variables.Add(right.variables);
  HashJoinOptions hash;
  std::vector<Condition> keys;
  if (join.term.join_method != JoinMethodHint::kNestedLoop) {
    ASSIGN_OR_RETURN(keys, TakeJoinKeys(&conditions, join.term.variable, left.known, &hash));
  }
  ASSIGN_OR_RETURN(ExprPtr condition, CompileConditions(conditions));
  if (keys.empty()) {
    NoteHashHint(join.term, "no condition has the form left = right");
  } else if (join.term.join_method == JoinMethodHint::kHashBuild) {
    NoteJoinHint(join.term,
                 "a RIGHT JOIN keeps the rows of its right, which must look for partners");
  }
  if (!keys.empty()) {
    std::swap(hash.left_keys, hash.right_keys);
    hash.left = std::move(right.plan);
    hash.right = std::move(left.plan);
    hash.condition = std::move(condition);
    hash.outer = true;
    hash.right_variables = left.variables;
    hash.layout = layout_.get();
    hash.once = !correlated_;
    hash.text = ConditionsText(keys);
    rows.plan = Counted(MakeHashJoin(std::move(hash)));
    return rows;
  }
  if (!correlated_) {
    left.plan = MakeMaterialized(std::move(left.plan), left.variables, layout_.get());
  }
  NestedLoopOptions loop;
  loop.left = std::move(right.plan);
  loop.right = std::move(left.plan);
  loop.condition = std::move(condition);
  loop.outer = true;
  loop.right_variables = left.variables;
  loop.name = "NestedLoopJoin";
  rows.plan = Counted(MakeNestedLoop(std::move(loop)));
  return rows;
}

// Moves conditions of the form left = right into the keys of a hash join and returns them.
Result<std::vector<Condition>> Planner::TakeJoinKeys(std::vector<Condition>* conditions,
                                                     VariableId variable,
                                                     const std::vector<VariableId>& others,
                                                     HashJoinOptions* hash) {
  std::vector<Condition> taken;
  std::vector<Condition> rest;
  for (Condition& condition : *conditions) {
    const auto key = AsJoinKey(condition, variable, others);
    if (!key) {
      rest.push_back(std::move(condition));
      continue;
    }
    ASSIGN_OR_RETURN(ExprPtr left_key, compiler_.Compile(*key->left));
    ASSIGN_OR_RETURN(ExprPtr right_key, compiler_.Compile(*key->right));
    hash->left_keys.push_back(std::move(left_key));
    hash->right_keys.push_back(std::move(right_key));
    taken.push_back(std::move(condition));
  }
  *conditions = std::move(rest);
  return taken;
}

Result<RowPlan> Planner::FinishJoin(RowPlan left, RowPlan right, const JoinClause& join,
                                    ExprPtr condition, ExprPtr keys) {
  RowPlan rows;
  rows.variables = left.variables;
  if (join.kind == JoinKind::kNest) {
    NestOptions nest;
    nest.left = std::move(left.plan);
    nest.right = std::move(right.plan);
    nest.condition = std::move(condition);
    Expression document;
    document.kind = ExprKind::kVariable;
    document.variable = join.term.variable;
    ASSIGN_OR_RETURN(nest.item, compiler_.Compile(document));
    nest.slot = join.nest_variable;
    nest.outer = join.type == JoinType::kLeft;
    nest.keys = std::move(keys);
    nest.alias = join.term.alias;
    rows.variables.slots.push_back(join.nest_variable);
    rows.plan = Counted(MakeNest(std::move(nest)));
    return rows;
  }
  rows.variables.Add(right.variables);
  NestedLoopOptions loop;
  loop.left = std::move(left.plan);
  loop.right = std::move(right.plan);
  loop.condition = std::move(condition);
  loop.outer = join.type == JoinType::kLeft;
  loop.right_variables = right.variables;
  loop.name = join.kind == JoinKind::kUnnest ? "Unnest" : "NestedLoopJoin";
  rows.plan = Counted(MakeNestedLoop(std::move(loop)));
  return rows;
}

}  // namespace sluice::query
