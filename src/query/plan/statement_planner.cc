// From a parsed statement to a StatementPlan: bind, plan, and collect what others need to know of
// it.
//
// Statements about data (SELECT and the writing ones) are bound and planned here; their text is not
// needed afterwards. All others are kept as they are (Keep) and run by the engine (DDL, EXECUTE,
// EXPLAIN, transactions, procedures). For both, the plan names the keyspaces that the statement
// reads and writes, or that it `administers`, from which permissions are decided before it runs.
//
// A plan is valid for one version of the catalog and of the user-defined functions; the engine
// plans again if they have changed.
#include "query/plan/statement_planner.h"

#include <algorithm>
#include <utility>

#include "query/bind/walk.h"
#include "query/error.h"
#include "query/functions/table.h"
#include "query/plan/plan_write.h"
#include "query/plan/planner.h"
#include "query/plan/traffic_use.h"

namespace sluice::query {
namespace {

// {"name": "json"} for each result term, "json" for RAW, {"*": "*"} for stars.
Value SignatureOf(const Projection& projection) {
  if (projection.raw) return Value("json");
  Value signature = Value::EmptyObject();
  for (const ResultTerm& term : projection.terms) {
    if (term.star) {
      signature.Set("*", Value("*"));
    } else {
      signature.Set(term.alias, Value("json"));
    }
  }
  return signature;
}

Value SignatureOf(const QueryBody& body) {
  if (const auto* block = std::get_if<std::unique_ptr<SelectBlock>>(&body)) {
    return SignatureOf((*block)->projection);
  }
  if (const auto* operation = std::get_if<std::unique_ptr<SetOperation>>(&body)) {
    return SignatureOf((*operation)->left);
  }
  return SignatureOf(std::get<QueryPtr>(body)->body);
}

Value SignatureOf(const std::optional<Projection>& returning) {
  return returning ? SignatureOf(*returning) : Value(nullptr);
}

// Binding turns stars into terms, so the signature needs to know before it whether there was one.
bool HasStar(const QueryBody& body) {
  if (const auto* block = std::get_if<std::unique_ptr<SelectBlock>>(&body)) {
    for (const ResultTerm& term : (*block)->projection.terms) {
      if (term.star) return true;
    }
    return false;
  }
  if (const auto* operation = std::get_if<std::unique_ptr<SetOperation>>(&body)) {
    return HasStar((*operation)->left);
  }
  return HasStar(std::get<QueryPtr>(body)->body);
}

// Whether the statement's only documents are those of the first term of FROM, opened once.
// A read of a single document by such a statement needs no snapshot: there is no second read that
// must agree with it (RunOptions::one_source).
bool HasOneSource(const Query& query, const Layout& layout) {
  const auto* block = std::get_if<std::unique_ptr<SelectBlock>>(&query.body);
  if (layout.sources().size() != 1 || !query.with.empty() || block == nullptr) return false;
  const std::optional<FromClause>& from = (*block)->from;
  return from && layout.FindSource(from->first.variable) != nullptr &&
         std::ranges::all_of(from->joins,
                             [](const JoinClause& join) { return join.kind == JoinKind::kUnnest; });
}

// The table column that a bound expression is, if any.
std::optional<ResultColumn> AsColumn(const Expression& expression, const Variables& variables) {
  const Expression* e = &expression;
  if (e->kind == ExprKind::kCall && e->name == kColumnValueFunction) e = e->args[0].get();
  if (e->kind != ExprKind::kField || e->args[0]->kind != ExprKind::kVariable) return std::nullopt;
  const auto& table = variables[e->args[0]->variable].table;
  const db::TableColumn* const column = table == nullptr ? nullptr : table->FindColumn(e->name);
  if (column == nullptr) return std::nullopt;
  return ResultColumn{.name = "",
                      .table = table->name,
                      .column = column->name,
                      .type = column->type,
                      .type_text = column->TypeText()};
}

std::vector<ResultColumn> ColumnsOf(const QueryBody& body, const Variables& variables) {
  std::vector<ResultColumn> columns;
  const auto* const block = std::get_if<std::unique_ptr<SelectBlock>>(&body);
  if (block == nullptr || (*block)->projection.raw) return columns;
  for (const ResultTerm& term : (*block)->projection.terms) {
    if (term.star) continue;
    auto column = AsColumn(*term.expression, variables);
    if (!column) continue;
    column->name = term.alias;
    columns.push_back(std::move(*column));
  }
  return columns;
}

class StatementPlanner {
 public:
  StatementPlanner(const db::Database& database, const db::Catalog& catalog,
                   const UserFunctionTable& functions, const QueryContext& context,
                   const Statement& statement, bool profiled, const KeyspaceGuard& guard)
      : database_(database),
        catalog_(catalog),
        functions_(functions),
        profiled_(profiled),
        guard_(guard),
        binder_(catalog, context, &functions, guard) {
    plan_ = std::make_shared<StatementPlan>();
    plan_->context = context;
    plan_->parameters.positional = statement.positional_parameters;
    plan_->parameters.named = statement.named_parameters;
  }

  Status operator()(QueryPtr& query) {
    plan_->kind = StatementKind::kSelect;
    // Binding changes the tree: before it, a star is still a star.
    const bool star = HasStar(query->body);
    RETURN_IF_ERROR(binder_.Bind(*query));
    plan_->signature = star ? Value::Object({{"*", Value("*")}}) : SignatureOf(query->body);
    plan_->columns = ColumnsOf(query->body, binder_.variables());
    Planner& planner = MakePlanner();
    ASSIGN_OR_RETURN(plan_->query, planner.Plan(*query));
    plan_->one_source = HasOneSource(*query, *planner.layout());
    return OkStatus();
  }

  Status operator()(InsertStatement& statement) {
    plan_->kind = statement.upsert ? StatementKind::kUpsert : StatementKind::kInsert;
    return PlanWriting(statement);
  }
  Status operator()(UpdateStatement& statement) {
    plan_->kind = StatementKind::kUpdate;
    return PlanWriting(statement);
  }
  Status operator()(DeleteStatement& statement) {
    plan_->kind = StatementKind::kDelete;
    return PlanWriting(statement);
  }
  Status operator()(MergeStatement& statement) {
    plan_->kind = StatementKind::kMerge;
    return PlanWriting(statement);
  }
  Status operator()(PrepareStatement&) { return Keep(StatementKind::kPrepare); }
  Status operator()(ExecuteStatement&) { return Keep(StatementKind::kExecute); }
  Status operator()(ExplainStatement&) { return Keep(StatementKind::kExplain); }
  Status operator()(InferStatement& statement) {
    if (statement.keyspace) {
      ASSIGN_OR_RETURN(const auto keyspace,
                       ResolveKeyspace(catalog_, plan_->context, *statement.keyspace, guard_));
      plan_->reads.push_back(keyspace->name);
    }
    return Keep(StatementKind::kInfer);
  }
  // A procedure's own statements are authorised one by one, so EXEC needs no right itself.
  Status operator()(ProcedureStatement& statement) {
    const bool executes = statement.action == ProcedureStatement::Action::kExecute;
    plan_->administers = !executes;
    return Keep(executes ? StatementKind::kExecute : StatementKind::kDefinition);
  }
  // The procedure of a trigger runs with all rights, so making one needs an administrator.
  Status operator()(TriggerStatement& statement) {
    for (const TriggerStatement::Source& source : statement.sources) {
      ASSIGN_OR_RETURN(const auto keyspace,
                       ResolveKeyspace(catalog_, plan_->context, source.keyspace, guard_));
      plan_->reads.push_back(keyspace->name);
    }
    plan_->administers = true;
    return Keep(StatementKind::kDefinition);
  }
  Status operator()(TransactionStatement&) { return Keep(StatementKind::kTransaction); }
  template <typename Definition>
  Status operator()(Definition&) {
    plan_->administers = true;
    return Keep(StatementKind::kDefinition);
  }

  Result<std::shared_ptr<const StatementPlan>> Finish(Statement statement, std::string text) {
    plan_->text = std::move(text);
    plan_->catalog_version = catalog_.version();
    plan_->functions_version = functions_.version;
    plan_->uses_functions = binder_.uses_functions();
    // Every document variable is a read, also those of subqueries and the target of a write.
    for (const Variable& variable : binder_.variables().all) {
      if (variable.kind != Variable::Kind::kDocument) continue;
      const db::KeyspaceInfo* info = catalog_.Find(variable.keyspace);
      if (info != nullptr) plan_->reads.push_back(info->name);
    }
    if (keep_) {
      plan_->statement = std::make_shared<const Statement>(std::move(statement));
    } else {
      plan_->layout = planner_->layout();
      db::StatementUse use =
          UseOf(catalog_, binder_.variables(), *plan_->layout, planner_->joins());
      if (!use.reads.empty()) plan_->runs = database_.operations().traffic().Enter(std::move(use));
      plan_->hint_notes = planner_->hint_notes();
      plan_->counted_operators = planner_->counted();
    }
    return std::shared_ptr<const StatementPlan>(std::move(plan_));
  }

 private:
  Status Keep(StatementKind kind) {
    plan_->kind = kind;
    plan_->signature = kind == StatementKind::kDefinition ? Value(nullptr) : Value("json");
    keep_ = true;
    return OkStatus();
  }

  Planner& MakePlanner() {
    planner_ = std::make_unique<Planner>(database_, catalog_, binder_.variables(),
                                         plan_->parameters, profiled_);
    return *planner_;
  }

  template <typename Writing>
  Status PlanWriting(Writing& statement) {
    RETURN_IF_ERROR(binder_.Bind(statement));
    plan_->signature = SignatureOf(statement.returning);
    const db::KeyspaceId target = binder_.variables()[statement.target.variable].keyspace;
    plan_->writes.push_back(catalog_.Find(target)->name);
    plan_->atomic = catalog_.Find(target)->table != nullptr;
    ASSIGN_OR_RETURN(plan_->query, PlanWrite(MakePlanner(), statement));
    return OkStatus();
  }

  const db::Database& database_;
  const db::Catalog& catalog_;
  const UserFunctionTable& functions_;
  const bool profiled_;
  const KeyspaceGuard& guard_;
  Binder binder_;
  std::unique_ptr<Planner> planner_;
  std::shared_ptr<StatementPlan> plan_;
  bool keep_ = false;
};

}  // namespace

std::string_view KindName(StatementKind kind) {
  static constexpr std::string_view kNames[] = {"SELECT",  "INSERT",  "UPSERT",     "UPDATE",
                                                "DELETE",  "MERGE",   "DEFINITION", "PREPARE",
                                                "EXECUTE", "EXPLAIN", "INFER",      "TRANSACTION"};
  return kNames[static_cast<size_t>(kind)];
}

Result<std::shared_ptr<const StatementPlan>> PlanStatement(
    const db::Database& database, const db::Catalog& catalog, const UserFunctionTable& functions,
    const QueryContext& context, Statement statement, std::string text, bool profiled,
    const KeyspaceGuard& guard) {
  StatementPlanner planner(database, catalog, functions, context, statement, profiled, guard);
  RETURN_IF_ERROR(std::visit(planner, statement.body));
  return planner.Finish(std::move(statement), std::move(text));
}

}  // namespace sluice::query
