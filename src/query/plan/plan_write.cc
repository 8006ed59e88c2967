// INSERT, UPSERT, UPDATE, DELETE and MERGE: a plan of input rows, and a program that turns each row
// into a write (exec/writes.h).
//
// Each PlanWrite has the two phases of planner.cc: first every expression of the statement is
// recorded in the layout (the Use... functions, in any order), then FinishLayout, then operators
// and programs are compiled. An expression that is compiled but was not recorded reads a slot that
// nobody fills.
//
// Outside of a transaction a document may change between its read and its write. The writing
// operator then reads it again and checks `recheck`, the whole WHERE, before it writes again. So
// WHERE and LET are compiled a second time, for one document instead of a scan.
#include "query/plan/plan_write.h"

#include <utility>

#include "query/bind/column.h"
#include "query/error.h"
#include "query/exec/expr_access.h"
#include "query/exec/writes.h"
#include "query/plan/plan_conflict.h"

namespace sluice::query {
namespace {

void UseProjection(Planner& planner, const std::optional<Projection>& projection) {
  if (!projection) return;
  for (const ResultTerm& term : projection->terms) planner.Prepare(*term.expression);
}

void UseOptional(Planner& planner, const ExpressionPtr& expression) {
  if (expression != nullptr) planner.Prepare(*expression);
}

void UseAssignments(Planner& planner, const std::vector<Assignment>& assignments) {
  for (const Assignment& assignment : assignments) {
    UseOptional(planner, assignment.value);
    for (const UpdateFor& loop : assignment.loops) UseOptional(planner, loop.when);
  }
}

// Writing needs the whole document, and its META() for the check that it has not changed.
void UseTarget(Planner& planner, const FromTerm& target) {
  SourceLayout* source = planner.layout()->FindSource(target.variable);
  source->whole = true;
  source->uses_meta = true;
}

// The CHECK constraints of the target's table; none for documents.
Result<std::vector<NamedExpression>> UseChecks(Planner& planner, const FromTerm& target) {
  std::vector<NamedExpression> checks;
  const auto& table = planner.variables()[target.variable].table;
  if (table == nullptr) return checks;
  for (const db::TableCheck& check : table->checks) {
    NamedExpression named{.place = target.place, .name = check.name};
    ASSIGN_OR_RETURN(named.expression,
                     BindCheck(planner.variables(), target.variable, check.condition));
    planner.Prepare(*named.expression);
    checks.push_back(std::move(named));
  }
  return checks;
}

Result<std::vector<RowCheck>> CompileChecks(Planner& planner,
                                            const std::vector<NamedExpression>& checks) {
  std::vector<RowCheck> compiled;
  for (const NamedExpression& check : checks) {
    RowCheck one{.name = check.name, .condition = nullptr};
    ASSIGN_OR_RETURN(one.condition, planner.compiler().Compile(*check.expression));
    compiled.push_back(std::move(one));
  }
  return compiled;
}

SourceTarget TargetOf(Planner& planner, const FromTerm& term) {
  return planner.TargetOf(term.variable);
}

Result<std::vector<SlotAssignment>> CompileLets(Planner& planner,
                                                const std::vector<NamedExpression>& let) {
  std::vector<SlotAssignment> assignments;
  for (const NamedExpression& named : let) {
    SlotAssignment assignment{.slot = named.variable, .value = nullptr, .name = named.name};
    ASSIGN_OR_RETURN(assignment.value, planner.compiler().Compile(*named.expression));
    assignments.push_back(std::move(assignment));
  }
  return assignments;
}

// A path below the document or a loop's variable.
struct Target {
  Slot root = 0;
  std::vector<TargetStep> steps;
};

// SET a.b[i].c: the steps of the path from its root, which is the document (0) or a variable of an
// enclosing FOR loop. Steps are walked from the last to the first.
Result<Target> CompileTarget(Planner& planner, const Expression& path, VariableId document) {
  Target target;
  const Expression* step = &path;
  for (; step->kind != ExprKind::kVariable; step = step->args[0].get()) {
    if (step->kind == ExprKind::kField) {
      target.steps.insert(target.steps.begin(), TargetStep(step->name));
    } else if (step->kind == ExprKind::kElement || step->kind == ExprKind::kFieldOf) {
      ASSIGN_OR_RETURN(ExprPtr position, planner.compiler().Compile(*step->args[1]));
      target.steps.insert(target.steps.begin(), TargetStep(std::move(position)));
    } else {
      return Unexpected(
          AtPlace(QueryError(QueryCode::kPlan,
                             "SET and UNSET take a path of the document, not '{}'", ToText(path)),
                  path.place));
    }
  }
  if (step->variable != document) target.root = step->variable;
  return target;
}

Result<UpdateLoop> CompileLoop(Planner& planner, const std::vector<RangeBinding>& bindings,
                               const ExpressionPtr& when, VariableId document) {
  UpdateLoop compiled;
  for (const RangeBinding& binding : bindings) {
    UpdateRange range{.name = binding.name_id, .value = binding.value_id, .within = binding.within};
    ASSIGN_OR_RETURN(Target source, CompileTarget(planner, *binding.source, document));
    range.root = source.root;
    range.steps = std::move(source.steps);
    compiled.ranges.push_back(std::move(range));
  }
  ASSIGN_OR_RETURN(compiled.when, planner.compiler().CompileOptional(when));
  return compiled;
}

// FOR i IN (ARRAY v.x FOR v IN d.l WHEN c END): the array collects parts of the document, and the
// assignment writes to these parts in place. It becomes two loops: one over d.l, and one over the
// single part v.x.
Status CompileCollected(Planner& planner, const UpdateFor& loop, VariableId document,
                        std::vector<UpdateLoop>* loops) {
  const RangeBinding& binding = loop.bindings.front();
  const Comprehension& array = *binding.source->comprehension;
  ASSIGN_OR_RETURN(UpdateLoop made_of, CompileLoop(planner, array.bindings, array.when, document));
  loops->push_back(std::move(made_of));
  ASSIGN_OR_RETURN(Target part, CompileTarget(planner, *array.body, document));
  UpdateLoop itself;
  itself.ranges.push_back({.name = binding.name_id,
                           .value = binding.value_id,
                           .itself = true,
                           .root = part.root,
                           .steps = std::move(part.steps)});
  ASSIGN_OR_RETURN(itself.when, planner.compiler().CompileOptional(loop.when));
  loops->push_back(std::move(itself));
  return OkStatus();
}

// Only one binding without a name or WITHIN: others have no single part of the document to write
// to.
bool IsCollected(const UpdateFor& loop) {
  return loop.bindings.size() == 1 && loop.bindings[0].source->kind == ExprKind::kArrayFor &&
         loop.bindings[0].name_id == 0 && !loop.bindings[0].within;
}

Result<std::vector<UpdateLoop>> CompileLoops(Planner& planner, const Assignment& assignment,
                                             VariableId document) {
  std::vector<UpdateLoop> loops;
  // The text has the innermost loop first.
  for (auto loop = assignment.loops.rbegin(); loop != assignment.loops.rend(); ++loop) {
    if (IsCollected(*loop)) {
      RETURN_IF_ERROR(CompileCollected(planner, *loop, document, &loops));
      continue;
    }
    ASSIGN_OR_RETURN(UpdateLoop compiled,
                     CompileLoop(planner, loop->bindings, loop->when, document));
    loops.push_back(std::move(compiled));
  }
  return loops;
}

Result<std::vector<UpdateAssignment>> CompileAssignments(Planner& planner,
                                                         const std::vector<Assignment>& set,
                                                         const std::vector<Assignment>& unset,
                                                         VariableId document) {
  std::vector<UpdateAssignment> compiled;
  // All SETs come before all UNSETs, as the statement has them. UNSET has no value.
  for (const auto* list : {&set, &unset}) {
    for (const Assignment& assignment : *list) {
      UpdateAssignment one;
      ASSIGN_OR_RETURN(one.value, planner.compiler().CompileOptional(assignment.value));
      const auto meta = AsMeta(*assignment.target);
      if (meta) {
        if (meta->field != "expiration" || one.value == nullptr) {
          return Unexpected(AtPlace(
              QueryError(QueryCode::kPlan, "of META() only SET META().expiration can be written"),
              assignment.place));
        }
        one.expiration = true;
      } else {
        ASSIGN_OR_RETURN(Target target, CompileTarget(planner, *assignment.target, document));
        one.root = target.root;
        one.steps = std::move(target.steps);
        ASSIGN_OR_RETURN(one.loops, CompileLoops(planner, assignment, document));
      }
      compiled.push_back(std::move(one));
    }
  }
  return compiled;
}

Result<std::unique_ptr<WriteProgram>> CompileUpdate(Planner& planner, const FromTerm& target,
                                                    const std::vector<Assignment>& set,
                                                    const std::vector<Assignment>& unset) {
  UpdateParts parts{.target = TargetOf(planner, target)};
  Expression document;
  document.kind = ExprKind::kVariable;
  document.variable = target.variable;
  ASSIGN_OR_RETURN(parts.document, planner.compiler().Compile(document));
  ASSIGN_OR_RETURN(parts.assignments, CompileAssignments(planner, set, unset, target.variable));
  if (const auto& table = planner.variables()[target.variable].table) {
    return MakeTableUpdateProgram(std::move(parts), table);
  }
  return MakeUpdateProgram(std::move(parts));
}

Result<QueryPlan> Finish(Planner& planner, WriteOptions options,
                         const std::optional<Projection>& returning) {
  if (returning) {
    // RETURNING sees the row's variables and the written (or deleted) document as the target.
    ASSIGN_OR_RETURN(options.returning, planner.CompileProjection(*returning));
  }
  options.slot = planner.layout()->NewSlot();
  options.layout = planner.layout().get();
  const Slot slot = options.slot;
  return QueryPlan{.root = planner.Counted(MakeWrite(std::move(options))), .result = slot};
}

void UseConflict(Planner& planner, const InsertStatement& statement) {
  const ConflictClause& clause = *statement.conflict;
  if (clause.action != ConflictClause::Action::kUpdate) return;
  UseAssignments(planner, clause.set);
  UseOptional(planner, clause.where);
  UseTarget(planner, statement.target);
}

// Finish for an INSERT with ON CONFLICT or REPLACE.
Result<QueryPlan> FinishConflict(Planner& planner, WriteOptions insert,
                                 const InsertStatement& statement) {
  const ConflictClause& clause = *statement.conflict;
  ConflictOptions options;
  options.input = std::move(insert.input);
  options.target = insert.target;
  options.insert = std::move(insert.program);
  options.checks = std::move(insert.checks);
  options.action = ActionOf(clause);
  ASSIGN_OR_RETURN(options.keys,
                   ConflictKeys(*planner.catalog().Find(insert.target.keyspace), clause));
  if (options.action == OnConflict::kUpdate) {
    ASSIGN_OR_RETURN(options.update, CompileUpdate(planner, statement.target, clause.set, {}));
    ASSIGN_OR_RETURN(options.where, planner.compiler().CompileOptional(clause.where));
    options.excluded = TargetOf(planner, clause.excluded);
  }
  if (statement.returning) {
    ASSIGN_OR_RETURN(options.returning, planner.CompileProjection(*statement.returning));
  }
  options.slot = planner.layout()->NewSlot();
  const Slot slot = options.slot;
  return QueryPlan{.root = planner.Counted(MakeConflictInsert(std::move(options))), .result = slot};
}

// The rows of one keyspace that an UPDATE or DELETE changes.
template <typename Statement>
Result<WriteOptions> PlanTargetRows(Planner& planner, const Statement& statement) {
  WriteOptions options;
  options.target = TargetOf(planner, statement.target);
  ASSIGN_OR_RETURN(options.lets, CompileLets(planner, statement.let));
  // With LET, the WHERE may use its variables, so it can't be pushed into the scan; the keyspace is
  // then read as a whole.
  const bool lets_first = !options.lets.empty();
  ASSIGN_OR_RETURN(RowPlan rows, planner.PlanTarget(statement.target,
                                                    lets_first ? nullptr : statement.where.get()));
  if (lets_first) {
    ASSIGN_OR_RETURN(std::vector<SlotAssignment> lets, CompileLets(planner, statement.let));
    for (const SlotAssignment& let : lets) rows.variables.slots.push_back(let.slot);
    rows.plan = MakeLet(std::move(rows.plan), std::move(lets));
    if (statement.where != nullptr) {
      ASSIGN_OR_RETURN(ExprPtr where, planner.compiler().Compile(*statement.where));
      rows.plan = MakeFilter(std::move(rows.plan), std::move(where), ToText(*statement.where));
    }
  }
  if (statement.where != nullptr) {
    ASSIGN_OR_RETURN(options.recheck, planner.compiler().Compile(*statement.where));
  } else {
    // Without a WHERE every document that still exists is written.
    options.recheck = MakeLiteral(true);
  }
  ASSIGN_OR_RETURN(ExprPtr limit, planner.compiler().CompileOptional(statement.limit));
  ASSIGN_OR_RETURN(ExprPtr offset, planner.compiler().CompileOptional(statement.offset));
  if (limit != nullptr || offset != nullptr) {
    rows.plan = MakeLimit(std::move(rows.plan), std::move(limit), std::move(offset));
  }
  options.input = std::move(rows.plan);
  options.variables = std::move(rows.variables);
  return options;
}

template <typename Statement>
void UseTargetRows(Planner& planner, const Statement& statement) {
  planner.PrepareWhere(statement.where.get());
  for (const NamedExpression& let : statement.let) planner.Prepare(*let.expression);
  if (statement.target.use_keys) planner.Prepare(*statement.target.use_keys->keys);
  UseProjection(planner, statement.returning);
}

}  // namespace

Result<QueryPlan> PlanWrite(Planner& planner, InsertStatement& statement) {
  if (statement.select != nullptr) planner.PrepareQuery(*statement.select);
  for (const InsertValues& row : statement.rows) {
    UseOptional(planner, row.key);
    planner.Prepare(*row.value);
    UseOptional(planner, row.options);
  }
  UseProjection(planner, statement.returning);
  if (statement.conflict) UseConflict(planner, statement);
  ASSIGN_OR_RETURN(const auto checks, UseChecks(planner, statement.target));
  planner.FinishLayout();
  InsertParts parts{.target = TargetOf(planner, statement.target), .upsert = statement.upsert};
  WriteOptions options;
  options.target = parts.target;
  if (statement.select != nullptr) {
    ASSIGN_OR_RETURN(QueryPlan select, planner.PlanQuery(*statement.select));
    const Slot row = statement.select->result_variable;
    options.input = MakeProject(std::move(select.root), MakeSlot(select.result), row, "row");
    ASSIGN_OR_RETURN(parts.key, planner.compiler().CompileOptional(statement.select_key));
    ASSIGN_OR_RETURN(parts.value, planner.compiler().CompileOptional(statement.select_value));
    if (parts.value == nullptr) parts.value = MakeSlot(row);
    ASSIGN_OR_RETURN(parts.options, planner.compiler().CompileOptional(statement.select_options));
  } else {
    std::vector<ValuesRow> rows;
    for (const InsertValues& row : statement.rows) {
      ValuesRow compiled;
      ASSIGN_OR_RETURN(compiled.key, planner.compiler().CompileOptional(row.key));
      ASSIGN_OR_RETURN(compiled.value, planner.compiler().Compile(*row.value));
      ASSIGN_OR_RETURN(compiled.options, planner.compiler().CompileOptional(row.options));
      rows.push_back(std::move(compiled));
    }
    Slot slots[3];
    for (Slot& slot : slots) slot = planner.layout()->NewSlot();
    options.input = MakeValues(std::move(rows), slots[0], slots[1], slots[2]);
    parts.key = MakeSlot(slots[0]);
    parts.value = MakeSlot(slots[1]);
    parts.options = MakeSlot(slots[2]);
  }
  ASSIGN_OR_RETURN(options.checks, CompileChecks(planner, checks));
  if (const auto& table = planner.variables()[statement.target.variable].table) {
    options.program = MakeTableInsertProgram(
        {.target = parts.target, .schema = table, .values = std::move(parts.value)});
  } else {
    options.program = MakeInsertProgram(std::move(parts));
  }
  if (statement.conflict) return FinishConflict(planner, std::move(options), statement);
  return Finish(planner, std::move(options), statement.returning);
}

Result<QueryPlan> PlanWrite(Planner& planner, UpdateStatement& statement) {
  UseTargetRows(planner, statement);
  UseAssignments(planner, statement.set);
  UseAssignments(planner, statement.unset);
  // A write replaces the whole document, so the whole document is read, not only the paths in use.
  UseTarget(planner, statement.target);
  ASSIGN_OR_RETURN(const auto checks, UseChecks(planner, statement.target));
  planner.FinishLayout();
  ASSIGN_OR_RETURN(WriteOptions options, PlanTargetRows(planner, statement));
  ASSIGN_OR_RETURN(options.checks, CompileChecks(planner, checks));
  ASSIGN_OR_RETURN(options.program,
                   CompileUpdate(planner, statement.target, statement.set, statement.unset));
  return Finish(planner, std::move(options), statement.returning);
}

Result<QueryPlan> PlanWrite(Planner& planner, DeleteStatement& statement) {
  UseTargetRows(planner, statement);
  planner.layout()->FindSource(statement.target.variable)->uses_meta = true;
  planner.FinishLayout();
  ASSIGN_OR_RETURN(WriteOptions options, PlanTargetRows(planner, statement));
  options.program = MakeDeleteProgram(options.target);
  return Finish(planner, std::move(options), statement.returning);
}

Result<QueryPlan> PlanWrite(Planner& planner, MergeStatement& statement) {
  // The source joined with the target: by ON KEY, or by a condition.
  // A LEFT JOIN: a source row without a partner is a candidate for INSERT, one with a partner for
  // UPDATE or DELETE. The binder has bound the parts of the statement that move into the join.
  JoinClause join;
  join.type = JoinType::kLeft;
  join.term = std::move(statement.target);
  join.on = std::move(statement.on);
  join.on_keys = std::move(statement.on_key);
  planner.PrepareWhere(join.on.get());
  for (const ExpressionPtr* each :
       {&join.on_keys, &statement.update_where, &statement.delete_where, &statement.insert_key,
        &statement.insert_value, &statement.insert_options, &statement.insert_where}) {
    UseOptional(planner, *each);
  }
  UseOptional(planner, statement.source.expression);
  if (statement.source.expression != nullptr && statement.source.expression->query != nullptr) {
    planner.PrepareQuery(*statement.source.expression->query);
  }
  for (const NamedExpression& let : statement.let) planner.Prepare(*let.expression);
  UseAssignments(planner, statement.set);
  UseAssignments(planner, statement.unset);
  UseProjection(planner, statement.returning);
  UseTarget(planner, join.term);
  planner.FinishLayout();
  ASSIGN_OR_RETURN(RowPlan rows, planner.PlanMergeRows(statement.source, join));
  if (!statement.let.empty()) {
    ASSIGN_OR_RETURN(std::vector<SlotAssignment> lets, CompileLets(planner, statement.let));
    for (const SlotAssignment& let : lets) rows.variables.slots.push_back(let.slot);
    rows.plan = MakeLet(std::move(rows.plan), std::move(lets));
  }
  MergeParts parts{.target = TargetOf(planner, join.term)};
  if (statement.has_update) {
    ASSIGN_OR_RETURN(parts.update,
                     CompileUpdate(planner, join.term, statement.set, statement.unset));
    ASSIGN_OR_RETURN(parts.update_where,
                     planner.compiler().CompileOptional(statement.update_where));
  }
  if (statement.has_delete) {
    parts.remove = MakeDeleteProgram(parts.target);
    ASSIGN_OR_RETURN(parts.remove_where,
                     planner.compiler().CompileOptional(statement.delete_where));
  }
  if (statement.has_insert) {
    InsertParts insert{.target = parts.target};
    // With ON KEY the key of the new document is the key that found no partner.
    const ExpressionPtr& key =
        statement.insert_key != nullptr ? statement.insert_key : join.on_keys;
    if (key == nullptr || statement.insert_value == nullptr) {
      return Unexpected(
          AtPlace(QueryError(QueryCode::kPlan,
                             "INSERT of this MERGE needs (KEY expression, VALUE expression)"),
                  statement.source.place));
    }
    ASSIGN_OR_RETURN(insert.key, planner.compiler().Compile(*key));
    ASSIGN_OR_RETURN(insert.value, planner.compiler().Compile(*statement.insert_value));
    ASSIGN_OR_RETURN(insert.options, planner.compiler().CompileOptional(statement.insert_options));
    parts.insert = MakeInsertProgram(std::move(insert));
    ASSIGN_OR_RETURN(parts.insert_where,
                     planner.compiler().CompileOptional(statement.insert_where));
  }
  WriteOptions options;
  options.target = parts.target;
  // Two source rows with the same target are an error (5320, 5330), as the result would depend on
  // their order.
  options.each_once = true;
  if (planner.variables().IsDocument(statement.source.variable)) {
    options.not_of_inserted.sources = {planner.layout()->SourceIndex(statement.source.variable)};
  } else {
    options.not_of_inserted.slots = {statement.source.variable};
  }
  options.input = std::move(rows.plan);
  options.variables = std::move(rows.variables);
  options.program = MakeMergeProgram(std::move(parts));
  ASSIGN_OR_RETURN(ExprPtr limit, planner.compiler().CompileOptional(statement.limit));
  if (limit != nullptr)
    options.input = MakeLimit(std::move(options.input), std::move(limit), nullptr);
  return Finish(planner, std::move(options), statement.returning);
}

}  // namespace sluice::query
