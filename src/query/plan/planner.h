// Bound statements into plans. Joins run in the order they are written; for each keyspace the
// planner picks how it is read (access.h), for each join how partners are found.
//
// Thread: one. A Planner lives while one statement is planned; database, catalog and variables
// outlive it. The plans that it makes are immutable and may be used from any thread.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "db/catalog.h"
#include "db/database.h"
#include "db/traffic.h"
#include "query/bind/binder.h"
#include "query/exec/compile.h"
#include "query/exec/group.h"
#include "query/exec/joins.h"
#include "query/exec/operator.h"
#include "query/exec/profile.h"
#include "query/exec/scans.h"
#include "query/exec/steps.h"
#include "query/exec/window.h"
#include "query/plan/conditions.h"

namespace sluice::query {

// A plan and the variables that its rows set.
struct RowPlan {
  PlanPtr plan;
  RowVariables variables;
  std::vector<VariableId> known;
  bool lookup = false;  // depends on the rows before it: opened for each of them
  bool sorted = false;  // the rows come in the order that the query asks for
};

class Planner final : public SubqueryPlanner {
 public:
  Planner(const db::Database& database, const db::Catalog& catalog, const Variables& variables,
          const ParameterList& parameters, bool profiled)
      : database_(database),
        catalog_(catalog),
        variables_(variables),
        profiled_(profiled),
        layout_(std::make_shared<Layout>(variables)),
        compiler_(variables, *layout_, parameters, this) {}

  // Assigns slots to everything that the query uses, then plans it.
  Result<QueryPlan> Plan(Query& query);
  // For statements that write: `Prepare` every query and expression first, then Finish.
  void PrepareQuery(Query& query);
  void Prepare(const Expression& expression) { layout_->Use(expression, GroupNumber::kRest); }
  void PrepareWhere(const Expression* where);
  void FinishLayout() { layout_->Finish(); }
  Result<QueryPlan> PlanQuery(const Query& query);
  // The rows of one keyspace that a condition holds for.
  Result<RowPlan> PlanTarget(const FromTerm& term, const Expression* where);
  Result<RowPlan> PlanMergeRows(const FromTerm& source, const JoinClause& join);
  SourceTarget TargetOf(VariableId document) const;
  Result<ExprPtr> CompileProjection(const Projection& projection);

  Result<std::shared_ptr<const QueryPlan>> PlanSubquery(const Query& query) override;

  // In a profiled plan, an operator that counts (profile.h); else the same.
  PlanPtr Counted(PlanPtr plan) {
    return profiled_ ? MakeProfiled(std::move(plan), counted_++) : std::move(plan);
  }
  size_t counted() const { return counted_; }
  // The joined keyspaces, and the paths of the joins.
  const std::set<db::JoinUse>& joins() const { return joins_; }
  // Hints that the plan does not follow, and why.
  const std::vector<std::string>& hint_notes() const { return hint_notes_; }

  Compiler& compiler() { return compiler_; }
  const Variables& variables() const { return variables_; }
  const db::Catalog& catalog() const { return catalog_; }
  const std::shared_ptr<Layout>& layout() { return layout_; }

 private:
  friend class Access;

  Result<QueryPlan> PlanBody(const QueryBody& body);
  Result<QueryPlan> PlanBlock(const SelectBlock& block, const Query* ordered);
  Result<RowPlan> PlanRows(const SelectBlock& block, const std::vector<SortTerm>* wanted_order);
  // `wanted_order` may be null; the plan says whether its rows come in that order.
  Result<RowPlan> PlanSource(const FromTerm& term, std::vector<Condition>* conditions,
                             const std::vector<SortTerm>* wanted_order = nullptr);
  Result<RowPlan> PlanFrom(const FromClause& from, std::vector<Condition>* where,
                           const std::vector<SortTerm>* wanted_order);
  void AddUnnested(const FromClause& from, const std::vector<Condition>& where,
                   std::vector<Condition>* conditions);
  Result<RowPlan> PlanJoin(RowPlan left, const JoinClause& join, std::vector<Condition>* where,
                           const std::vector<VariableId>& all);
  Result<RowPlan> PlanUnnest(RowPlan left, const JoinClause& join);
  Result<RowPlan> PlanKeysJoin(RowPlan left, const JoinClause& join);
  Result<RowPlan> PlanConditionJoin(RowPlan left, const JoinClause& join,
                                    std::vector<Condition> conditions);
  Result<RowPlan> PlanHashJoin(RowPlan left, RowPlan right, const JoinClause& join,
                               HashJoinOptions hash);
  Result<RowPlan> PlanRightJoin(RowPlan left, const JoinClause& join,
                                std::vector<Condition> conditions);
  Result<std::vector<Condition>> TakeJoinKeys(std::vector<Condition>* conditions,
                                              VariableId variable,
                                              const std::vector<VariableId>& others,
                                              HashJoinOptions* hash);
  Result<RowPlan> FinishJoin(RowPlan left, RowPlan right, const JoinClause& join, ExprPtr condition,
                             ExprPtr keys);
  Result<PlanPtr> PlanGroup(const SelectBlock& block, PlanPtr input);
  Result<AggregateExpr> CompileUserAggregate(const Expression& call);
  Result<AggregateExpr> CompileAggregate(const Expression& call);
  Result<ExprPtr> CompileGroupItem(const SelectBlock& block);
  static std::string ProjectionText(const Projection& projection);
  Result<PlanPtr> PlanWindows(const SelectBlock& block, PlanPtr input, RowVariables variables);
  Result<WindowCall> CompileWindowCall(const Expression& call);
  Result<std::vector<SortKey>> CompileSortKeys(const std::vector<SortTerm>& terms);
  Result<PlanPtr> PlanOrder(const std::vector<SortTerm>& terms, const ExpressionPtr& limit,
                            const ExpressionPtr& offset, PlanPtr input, ExprPtr result, Slot slot);
  Result<PlanPtr> PlanWith(const Query& query, PlanPtr input);
  Result<TableDefinition> PlanTable(const Query& query, const CommonTable& table);
  Result<PlanPtr> AddFilter(PlanPtr input, const std::vector<Condition>& conditions);
  Result<ExprPtr> CompileConditions(const std::vector<Condition>& conditions);

  static bool WantsHash(const FromTerm& term) {
    return term.join_method == JoinMethodHint::kHashBuild ||
           term.join_method == JoinMethodHint::kHashProbe;
  }
  void AddHintNote(std::string note);
  void NoteHint(const FromTerm& term, std::string_view hint, std::string_view why);
  void NoteJoinHint(const FromTerm& term, std::string_view why);
  void NoteHashHint(const FromTerm& term, std::string_view why);
  void NoteIndexHint(const FromTerm& term);
  void NoteHintComments(const SelectBlock& block);

  const db::Database& database_;
  const db::Catalog& catalog_;
  const Variables& variables_;
  const bool profiled_;
  size_t counted_ = 0;
  std::shared_ptr<Layout> layout_;
  Compiler compiler_;
  std::vector<std::string> hint_notes_;
  std::set<db::JoinUse> joins_;
  std::vector<ExpressionPtr> made_;  // conditions that no text has
  // Whether the query being planned runs again for each row of the enclosing statement.
  bool correlated_ = false;
};

std::string ConditionsText(const std::vector<Condition>& conditions);

}  // namespace sluice::query
