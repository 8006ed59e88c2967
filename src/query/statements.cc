// Statements that are no queries: PREPARE, EXECUTE, EXPLAIN, and those that change the catalog
// (definitions.h).
#include <algorithm>
#include <charconv>
#include <utility>

#include "query/alter_table.h"
#include "query/definition_state.h"
#include "query/definitions.h"
#include "query/encoded_plan.h"
#include "query/exec/context.h"
#include "query/exec/expr_access.h"
#include "query/functions/aggregate.h"
#include "query/functions/function.h"
#include "query/functions/text.h"
#include "query/plan/statement_planner.h"
#include "query/procedures.h"
#include "query/result_text.h"
#include "query/run.h"

namespace sluice::query {
namespace {

// A name for a statement that was given none: the same text in the same place has the same name.
std::string GeneratedName(std::string_view text, const QueryContext& context) {
  const std::string all = fmt::format("{}.{} {}", context.bucket, context.scope, text);
  return fmt::format("{:016x}", std::hash<std::string_view>()(all));
}

bool IsNode(const Value& value) { return !value["operator"].is_missing(); }

// A node's details on one line, its inputs below it, further in.
void AppendTree(const Value& node, size_t depth, std::string* out) {
  *out += fmt::format("{}{}{}", depth == 0 ? "" : "\n", std::string(depth * 2, ' '),
                      node["operator"].AsString());
  for (const json::Field& field : node.fields()) {
    if (field.name() == "operator" || IsNode(field.value) || IsNode(field.value[0])) continue;
    *out += fmt::format(" {}={}", field.name(), ResultText(field.value));
  }
  for (const json::Field& field : node.fields()) {
    if (IsNode(field.value)) AppendTree(field.value, depth + 1, out);
    for (const Value& item : field.value.items()) {
      if (IsNode(item)) AppendTree(item, depth + 1, out);
    }
  }
}

// Whether a scan anywhere in the tree may be divided among threads.
bool HasParallel(const Value& node) {
  if (!node["parallel"].is_missing()) return true;
  return std::ranges::any_of(node.fields(), [](const json::Field& field) {
    return field.value.is_object() && HasParallel(field.value);
  });
}

Value ExplainPlan(const StatementPlan& plan, size_t max_parallelism) {
  Value row = Value::Object({{"text", Value(plan.text)}});
  if (plan.query.root == nullptr) return row;
  Value tree = plan.query.root->Explain();
  std::string text;
  AppendTree(tree, 0, &text);
  if (HasParallel(tree)) {
    row.Set("max_parallelism", Value(static_cast<int64_t>(max_parallelism)));
  }
  row.Set("tree", Value(text));
  if (!plan.hint_notes.empty()) {
    Value notes = Value::EmptyArray();
    for (const std::string& note : plan.hint_notes) notes.Append(Value(note));
    row.Set("optimizer_hints", Value::Object({{"hints_not_followed", std::move(notes)}}));
  }
  row.Set("plan", std::move(tree));
  return row;
}

// Names that mean something where a function is called.
Status CheckNotBuiltIn(const ProcedureStatement& statement) {
  constexpr std::string_view kSpecial[] = {
      "and", "count_star", "exists", "meta", "not", "or", "self", "unnest_position", "unnest_pos"};
  const std::string name = ToLowerAscii(statement.name);
  if (FindFunction(name) == nullptr && FindAggregate(name) == nullptr && !IsWindowFunction(name) &&
      std::ranges::find(kSpecial, name) == std::end(kSpecial)) {
    return OkStatus();
  }
  return AtPlace(QueryError(QueryCode::kPlan, "{}() is built in: choose another name", name),
                 statement.place);
}

class StatementRunner {
 public:
  StatementRunner(QueryEngine& engine, const StatementPlan& plan, RunRequest& request)
      : engine_(engine), plan_(plan), request_(request) {}

  using Rows = Result<std::unique_ptr<Run>>;

  Rows operator()(const PrepareStatement& statement) {
    ASSIGN_OR_RETURN(auto prepared, Prepare(statement.text));
    if (request_.authorize) RETURN_IF_ERROR(request_.authorize(*prepared));
    const std::string name =
        statement.name.empty() ? GeneratedName(statement.text, plan_.context) : statement.name;
    RETURN_IF_ERROR(engine_.Name(name, prepared, request_.user, statement.force));
    return MakeRowsRun({DescribePrepared(name, *prepared)});
  }

  Rows operator()(const ExecuteStatement& statement) {
    ASSIGN_OR_RETURN(auto prepared, engine_.FindNamed(statement.name, request_.guard));
    if (statement.using_arguments != nullptr) RETURN_IF_ERROR(TakeArguments(statement));
    return engine_.Execute(std::move(prepared), std::move(request_));
  }

  Rows operator()(const ExplainStatement& statement) {
    ASSIGN_OR_RETURN(auto prepared, Prepare(statement.text));
    if (request_.authorize) RETURN_IF_ERROR(request_.authorize(*prepared));
    Value row = ExplainPlan(*prepared, engine_.ParallelismOf(request_));
    ASSIGN_OR_RETURN(const std::optional<DefinitionState> state, Compare(statement));
    if (state) {
      const Value view = ToJson(*state);
      for (const json::Field& field : view.fields()) row.Set(field.name(), field.value);
    }
    return MakeRowsRun({std::move(row)});
  }

  Rows operator()(const ProcedureStatement& statement) {
    Procedures* const procedures = engine_.procedures();
    if (procedures == nullptr) {
      return QueryFail(QueryCode::kInternal, "there are no procedures here");
    }
    if (statement.action == ProcedureStatement::Action::kCreateFunction) {
      RETURN_IF_ERROR(CheckNotBuiltIn(statement));
    }
    if (statement.action != ProcedureStatement::Action::kExecute) {
      ASSIGN_OR_RETURN(std::vector<Value> rows, procedures->Define(statement));
      return MakeRowsRun(std::move(rows));
    }
    std::vector<Value> arguments;
    for (const ExpressionPtr& expression : statement.arguments) {
      ASSIGN_OR_RETURN(Value argument, ProcedureArgument(*expression));
      arguments.push_back(std::move(argument));
    }
    request_.positional.clear();
    request_.named.clear();
    return procedures->Start(statement.name, std::move(arguments), plan_.context,
                             std::move(request_));
  }

  Rows operator()(const TriggerStatement& statement) {
    Procedures* const procedures = engine_.procedures();
    if (procedures == nullptr) {
      return QueryFail(QueryCode::kInternal, "there are no triggers here");
    }
    ASSIGN_OR_RETURN(std::vector<Value> rows, procedures->Define(statement, plan_.context));
    return MakeRowsRun(std::move(rows));
  }

  Rows operator()(const DropTableStatement& statement) {
    const auto table = engine_.database().catalog()->FindTable(statement.name);
    const bool cascades = statement.cascade || plan_.context.dialect == Dialect::kComdb2;
    if (table != nullptr && !cascades) {
      RETURN_IF_ERROR(CheckNoTriggers(*table, "dropped", statement.place));
    }
    ASSIGN_OR_RETURN(Defined defined, RunDefinition(engine_.database(), plan_.context, statement));
    if (table != nullptr && engine_.procedures() != nullptr) {
      RETURN_IF_ERROR(engine_.procedures()->Forget(table->id));
    }
    return MakeRowsRun(std::move(defined.rows));
  }

  // Names, or expressions that give names: often a subquery over system:indexes.
  Rows operator()(const BuildIndexStatement& statement) {
    std::vector<std::string> names;
    for (const ExpressionPtr& expression : statement.names) {
      ASSIGN_OR_RETURN(const auto run,
                       engine_.Query("SELECT RAW " + ToText(*expression), plan_.context, request_));
      while (run->Next()) AppendNames(run->row(), &names);
      RETURN_IF_ERROR(run->status());
    }
    ASSIGN_OR_RETURN(Defined defined,
                     BuildIndexes(engine_.database(), plan_.context, statement, names));
    return MakeRowsRun(std::move(defined.rows), std::move(defined.warnings));
  }

  Rows operator()(const AlterTableStatement& statement) {
    const auto table = engine_.database().catalog()->FindTable(statement.name);
    for (const AlterTableStatement::Action& action : statement.actions) {
      if (table == nullptr || action.kind != AlterTableStatement::Kind::kRename || action.cascade) {
        continue;
      }
      RETURN_IF_ERROR(CheckNoTriggers(*table, "renamed", statement.place));
    }
    const Status status = AlterTable(engine_, statement, plan_.context.dialect);
    if (!status.ok()) return Unexpected(AtPlace(TableError(status), statement.place));
    return MakeRowsRun({});
  }

  Rows operator()(const TransactionStatement&) {
    return QueryFail(QueryCode::kTransaction,
                     "transactions need a session: send this to /query/service");
  }

  template <typename Other>
  Rows operator()(const Other& statement) {
    if constexpr (std::is_same_v<Other, QueryPtr> || std::is_same_v<Other, InsertStatement> ||
                  std::is_same_v<Other, UpdateStatement> ||
                  std::is_same_v<Other, DeleteStatement> || std::is_same_v<Other, MergeStatement>) {
      return QueryFail(QueryCode::kInternal, "a query without a plan");
    } else {
      ASSIGN_OR_RETURN(Defined defined,
                       RunDefinition(engine_.database(), plan_.context, statement));
      return MakeRowsRun(std::move(defined.rows), std::move(defined.warnings));
    }
  }

 private:
  Result<std::shared_ptr<const StatementPlan>> Prepare(std::string_view text) {
    return engine_.Prepare(text, plan_.context, QueryEngine::Profiling::kOff, request_.guard);
  }

  // Of a statement that creates what may be there already.
  Result<std::optional<DefinitionState>> Compare(const ExplainStatement& explained) {
    const auto& body = explained.statement->body;
    if (const auto* table = std::get_if<CreateTableStatement>(&body)) {
      auto state = CompareTable(engine_.database(), *table);
      if (!state) return Unexpected(AtPlace(TableError(state.error()), table->place));
      return std::move(*state);
    }
    if (const auto* index = std::get_if<CreateIndexStatement>(&body)) {
      return CompareIndex(engine_.database(), plan_.context, *index, explained.text);
    }
    const Procedures* const procedures = engine_.procedures();
    if (procedures == nullptr) return std::nullopt;
    const auto* trigger = std::get_if<TriggerStatement>(&body);
    if (trigger != nullptr && trigger->action == TriggerStatement::Action::kCreate) {
      return procedures->Compare(*trigger, plan_.context);
    }
    const auto* function = std::get_if<ProcedureStatement>(&body);
    if (function == nullptr || function->action != ProcedureStatement::Action::kCreateFunction) {
      return std::nullopt;
    }
    return CompareFunction(*procedures->Functions(), *function, explained.text);
  }

  static void AppendNames(const Value& value, std::vector<std::string>* names) {
    if (value.is_string()) names->emplace_back(value.AsString());
    for (const Value& item : value.items()) AppendNames(item, names);
  }

  Status CheckNoTriggers(const db::KeyspaceInfo& table, std::string_view what,
                         const TextPlace& place) const {
    if (engine_.procedures() == nullptr) return OkStatus();
    const std::vector<std::string> names = engine_.procedures()->TriggersOn(table.id);
    if (names.empty()) return OkStatus();
    return AtPlace(QueryError(QueryCode::kTableDefinition,
                              "table '{}' can't be {}: '{}' stands on it; say CASCADE if that is "
                              "meant",
                              table.table->name, what, fmt::join(names, "', '")),
                   place);
  }

  // A constant, or one of the request's parameters.
  Result<Value> ProcedureArgument(const Expression& expression) {
    if (expression.kind != ExprKind::kParameter) {
      return EvaluateConstant(engine_.database(), expression);
    }
    ParameterList one;
    const std::string& name = expression.name;
    const bool positional = name.find_first_not_of("0123456789") == std::string::npos;
    if (!positional) one.named = {name};
    if (positional) std::from_chars(name.data(), name.data() + name.size(), one.positional);
    RunRequest request;
    request.positional = request_.positional;
    request.named = request_.named;
    ASSIGN_OR_RETURN(std::vector<Value> values, BindParameters(one, request));
    return std::move(values.back());
  }

  // USING [..] or {..}: constants and the request's own parameters are not mixed.
  Status TakeArguments(const ExecuteStatement& statement) {
    if (!request_.positional.empty() || !request_.named.empty()) {
      return QueryError(QueryCode::kBothArguments,
                        "the request has arguments and EXECUTE has USING: give one of them");
    }
    ASSIGN_OR_RETURN(const Value arguments,
                     EvaluateConstant(engine_.database(), *statement.using_arguments));
    for (const Value& item : arguments.items()) request_.positional.push_back(item);
    for (const json::Field& field : arguments.fields()) {
      std::string name(field.name());
      if (name.starts_with('$')) name.erase(0, 1);
      request_.named[name] = field.value;
    }
    if (arguments.is_array() || arguments.is_object()) return OkStatus();
    return AtPlace(QueryError(QueryCode::kBadParameter, "USING takes an array or an object"),
                   statement.place);
  }

  QueryEngine& engine_;
  const StatementPlan& plan_;
  RunRequest& request_;
};

}  // namespace

Value DescribePrepared(const std::string& name, const StatementPlan& plan) {
  return Value::Object(
      {{"name", Value(name)},
       {"statement", Value(plan.text)},
       {"signature", plan.signature},
       {"query_context", Value(ContextText(plan.context))},
       {"encoded_plan", Value(EncodePlan({.text = plan.text, .context = plan.context}))}});
}

Result<std::unique_ptr<Run>> RunStatement(QueryEngine& engine,
                                          std::shared_ptr<const StatementPlan> plan,
                                          RunRequest request) {
  StatementRunner runner(engine, *plan, request);
  return std::visit(runner, plan->statement->body);
}

}  // namespace sluice::query
