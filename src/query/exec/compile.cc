// Compiles bound expressions to trees of Expr, which operators evaluate for each row.
//
// Rules of the result:
// 1. A compiled expression is immutable and shared by all runs of the plan; all state of a run is
//    in its Context.
// 2. Errors at run time go to Context::Fail. What can be refused from the text alone (unknown
//    functions, wrong numbers of arguments, misplaced aggregates) is refused here.
// 3. Constant parts are folded to literals. A parameter is not a constant: a plan is shared by
//    requests with different values.
//
// Operators of SQL++ are calls with reserved names ("eq", "lt", "and", "in", ...; parse/ast.h). The
// frequent ones have an Expr of their own; all others go through the registry of functions. A
// faster Expr must give the same results as the function of the same name, which users can also
// call.
#include "query/exec/compile.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/nearest.h"
#include "query/error.h"
#include "query/exec/expr_access.h"
#include "query/exec/expr_build.h"
#include "query/exec/expr_logic.h"
#include "query/exec/subquery.h"
#include "query/exec/user_call.h"
#include "query/functions/aggregate.h"

namespace sluice::query {
namespace {

// From this many constants on, IN looks them up by hash.
constexpr size_t kHashedConstants = 5;

// The context for folding constants. A pure function uses only the limits and errors of it.
class FoldingContext final : public FunctionContext {
 public:
  int64_t statement_time_us() const override { return 0; }
  int64_t wall_time_us() const override { return 0; }
  const std::string& time_zone() const override { return zone_; }
  uint64_t Random() override { return 0; }
  const std::string& user() const override { return user_; }
  void Warn(QueryCode, std::string) override { usable_ = false; }
  void Fail(Status) override { usable_ = false; }
  // Warnings and errors must appear when the statement runs, and only if the expression is
  // evaluated: such a call is not folded. A large result would make the plan large.
  bool Allow(size_t bytes) override { return usable_ = usable_ && bytes < kFoldedBytes; }
  bool Spend(size_t steps) override {
    spent_ += steps;
    return usable_ = usable_ && spent_ < kFoldedSteps;
  }
  const re2::RE2* Regex(std::string_view, Match) override {
    usable_ = false;
    return nullptr;
  }
  bool usable() const { return usable_; }

 private:
  static constexpr size_t kFoldedBytes = 1 << 16;
  // Planning can't be cancelled, so work that takes long is left to the run.
  static constexpr size_t kFoldedSteps = 1 << 14;

  std::string zone_ = "UTC";
  std::string user_;
  size_t spent_ = 0;
  bool usable_ = true;
};

// The call's value, if all its arguments are constants and the call gave no error or warning.
ExprPtr Fold(const ScalarFunction& function, const std::vector<ExprPtr>& args) {
  // Time, random numbers and the user differ between runs of one plan.
  if (function.volatility != Volatility::kPure) return nullptr;
  std::vector<const Value*> values;
  bool missing = false;
  bool null = false;
  for (const ExprPtr& arg : args) {
    if (arg->constant() == nullptr) return nullptr;
    values.push_back(arg->constant());
    missing |= values.back()->is_missing();
    null |= values.back()->is_null();
  }
  if (function.unknowns == Unknowns::kPropagate && (missing || null)) {
    return MakeLiteral(missing ? Value() : Value(nullptr));
  }
  FoldingContext context;
  Value value = function.body(context, values);
  return context.usable() ? MakeLiteral(std::move(value)) : nullptr;
}

// Functions of SQL++ that Sluice does not have, and why.
std::string_view WhyUnsupported(std::string_view name) {
  struct Feature {
    std::string_view name;
    std::string_view why;
  };
  constexpr std::string_view kSearch = "there is no full-text search";
  constexpr std::string_view kStatements = "a statement can't look at statements or definitions";
  constexpr std::string_view kVectors = "there are no vector indexes, use VECTOR_DISTANCE()";
  constexpr std::string_view kModels = "no language models are called";
  constexpr Feature kFeatures[] = {
      {"curl", "statements call no other servers, functions on changes can"},
      {"search", kSearch},
      {"search_meta", kSearch},
      {"search_score", kSearch},
      {"search_query", kSearch},
      {"evaluate", kStatements},
      {"formalize", kStatements},
      {"formalise", kStatements},
      {"extractddl", kStatements},
      {"sanitize", kStatements},
      {"sanitize_statement", kStatements},
      {"indexinfo", kStatements},
      {"advisor", "there is no advice on indexes, EXPLAIN shows the plan"},
      {"_timeseries", "there are no time series"},
      {"approx_vector_distance", kVectors},
      {"ann_distance", kVectors},
      {"sparse_vector_distance", "there are no sparse vectors"},
      {"sparse_distance", "there are no sparse vectors"},
      {"reciprocal_fusion", kSearch},
      {"table_version",
       "changes of tables are not counted; comdb2_columns and comdb2_keys show how a table is"},
      {"recursive_cte", "use WITH RECURSIVE"},
      {"flatten_keys", "index each key by itself"},
      {"ai_compute", kModels},
      {"ai_rerank", kModels},
      {"natural_model_providers", kModels},
      {"model_providers", kModels},
  };
  const auto* found = std::ranges::find(kFeatures, name, &Feature::name);
  return found == std::end(kFeatures) ? "" : found->why;
}

Status UnknownFunction(const Expression& call) {
  if (const std::string_view why = WhyUnsupported(call.name); !why.empty()) {
    return AtPlace(QueryError(QueryCode::kSyntax, "{}() is not supported: {}", call.name, why),
                   call.place);
  }
  std::vector<std::string> names;
  for (const std::string_view name : FunctionNames()) names.emplace_back(name);
  return AtPlace(QueryError(QueryCode::kSyntax, "there is no function {}(){}", call.name,
                            DidYouMean(call.name, names)),
                 call.place);
}

Status CheckArguments(const ScalarFunction& function, const Expression& call) {
  const size_t count = call.args.size();
  if (count >= function.min_args &&
      (function.max_args == kAnyNumber || count <= function.max_args)) {
    return OkStatus();
  }
  std::string expected = fmt::format("{}", function.min_args);
  if (function.max_args == kAnyNumber) {
    expected = fmt::format("at least {}", function.min_args);
  } else if (function.max_args != function.min_args) {
    expected = fmt::format("{} to {}", function.min_args, function.max_args);
  }
  return AtPlace(QueryError(QueryCode::kSyntax, "{}() takes {} argument{}, got {}", call.name,
                            expected, expected == "1" ? "" : "s", count),
                 call.place);
}

}  // namespace

Result<size_t> ParameterList::IndexOf(const Expression& parameter) const {
  uint32_t number = 0;
  const std::string& name = parameter.name;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error == std::errc() && end == name.data() + name.size()) {
    if (number >= 1 && number <= positional) return number - 1;
  } else {
    const auto found = std::ranges::find(named, name);
    if (found != named.end()) return positional + static_cast<size_t>(found - named.begin());
  }
  return Unexpected(
      AtPlace(QueryError(QueryCode::kSyntax, "no parameter ${}", name), parameter.place));
}

Result<ExprPtr> Compiler::CompileOptional(const ExpressionPtr& expression) {
  if (expression == nullptr) return ExprPtr();
  return Compile(*expression);
}

Result<std::vector<ExprPtr>> Compiler::CompileAll(const std::vector<ExpressionPtr>& expressions) {
  std::vector<ExprPtr> compiled;
  for (const ExpressionPtr& expression : expressions) {
    ASSIGN_OR_RETURN(ExprPtr one, CompileOptional(expression));
    compiled.push_back(std::move(one));
  }
  return compiled;
}

Result<ExprPtr> Compiler::Compile(const Expression& expression) {
  // The order matters: META(x).id and a.b.c are calls and fields as well. As a whole they are a
  // read of one slot, so they are recognised before their parts.
  if (const auto meta = AsMeta(expression)) return CompileMeta(*meta);
  if (const auto path = AsVariablePath(expression)) return CompilePath(*path, expression);
  switch (expression.kind) {
    case ExprKind::kLiteral:
      return MakeLiteral(expression.value);
    case ExprKind::kParameter: {
      ASSIGN_OR_RETURN(const size_t index, parameters_.IndexOf(expression));
      return MakeParameter(index);
    }
    case ExprKind::kCall:
      return CompileCall(expression);
    case ExprKind::kObject:
      return CompileObject(expression);
    case ExprKind::kSubquery:
      return CompileSubquery(expression);
    case ExprKind::kAny:
    case ExprKind::kEvery:
    case ExprKind::kAnyAndEvery:
    case ExprKind::kArrayFor:
    case ExprKind::kFirstFor:
    case ExprKind::kObjectFor:
      return CompileComprehension(expression);
    // The binder has replaced every name that means something here.
    case ExprKind::kName:
    case ExprKind::kVariable:
    case ExprKind::kStar:
      return Unexpected(
          AtPlace(QueryError(QueryCode::kSyntax, "this can't stand here"), expression.place));
    default:
      break;
  }
  return CompileParts(expression);
}

Result<ExprPtr> Compiler::CompileParts(const Expression& expression) {
  ASSIGN_OR_RETURN(std::vector<ExprPtr> args, CompileAll(expression.args));
  switch (expression.kind) {
    case ExprKind::kField:
      if (expression.ignore_case) return MakeAnyCaseField(std::move(args[0]), expression.name);
      return MakeField(std::move(args[0]), expression.name);
    case ExprKind::kFieldOf:
      return MakeFieldOf(std::move(args[0]), std::move(args[1]));
    case ExprKind::kElement:
      return MakeElement(std::move(args[0]), std::move(args[1]));
    case ExprKind::kSlice: {
      // [:b] starts at 0; [a:] has two arguments.
      if (args[1] == nullptr) args[1] = MakeLiteral(0);
      if (args[2] == nullptr) args.pop_back();
      return MakeCall(*FindFunction("slice"), std::move(args));
    }
    case ExprKind::kArrayStar:
      return MakeCall(*FindFunction("array_star"), std::move(args));
    case ExprKind::kArray:
      return FoldedArray(std::move(args));
    case ExprKind::kSimpleCase: {
      ExprPtr operand = std::move(args[0]);
      args.erase(args.begin());
      ExprPtr otherwise;
      // Pairs of WHEN and THEN; an odd one at the end is ELSE.
      if (args.size() % 2 == 1) {
        otherwise = std::move(args.back());
        args.pop_back();
      }
      return MakeSimpleCase(std::move(operand), std::move(args), std::move(otherwise));
    }
    default: {  // kSearchedCase
      ExprPtr otherwise;
      if (args.size() % 2 == 1) {
        otherwise = std::move(args.back());
        args.pop_back();
      }
      return MakeSearchedCase(std::move(args), std::move(otherwise));
    }
  }
}

ExprPtr Compiler::FoldedArray(std::vector<ExprPtr> items) {
  std::vector<Value> values;
  for (const ExprPtr& item : items) {
    if (item->constant() == nullptr) return MakeArray(std::move(items));
    values.push_back(*item->constant());
  }
  return MakeLiteral(Value::Array(std::move(values)));
}

// A path of a document is read from a slot that its group fills from the document's text
// (layout.h). The layout has this path or a prefix of it; the rest is taken from the value in the
// slot. Any other variable holds its whole value in its own slot.
Result<ExprPtr> Compiler::CompilePath(const VariablePath& path, const Expression& expression) {
  const SourceLayout* source = layout_.FindSource(path.variable);
  if (source == nullptr) {
    ExprPtr value = MakeSlot(path.variable);
    return BelowPath(std::move(value), path.path, 0);
  }
  const size_t index = layout_.SourceIndex(path.variable);
  const auto& steps = path.path.steps();
  for (const GroupNumber group : {GroupNumber::kFilter, GroupNumber::kRest}) {
    for (const PathSlot& known : source->groups[static_cast<size_t>(group)].paths) {
      // Filter paths come first: a path that both groups could give is then read by the scan
      // already.
      const auto& prefix = known.path.steps();
      if (prefix.size() > steps.size() ||
          !std::equal(prefix.begin(), prefix.end(), steps.begin())) {
        continue;
      }
      return BelowPath(MakeDocumentSlot(index, group, known.slot), path.path, prefix.size());
    }
  }
  // Layout::Use was not called for this expression before FinishLayout: a defect of the planner.
  if (!source->whole) {
    return Unexpected(AtPlace(QueryError(QueryCode::kInternal, "a path has no place in the row"),
                              expression.place));
  }
  return BelowPath(MakeDocumentSlot(index, GroupNumber::kRest, path.variable), path.path, 0);
}

ExprPtr Compiler::BelowPath(ExprPtr base, const json::Path& path, size_t from) {
  for (size_t i = from; i < path.steps().size(); ++i) {
    if (const auto* name = std::get_if<std::string>(&path.steps()[i])) {
      base = MakeField(std::move(base), *name);
    } else {
      base = MakeElement(std::move(base), MakeLiteral(std::get<int64_t>(path.steps()[i])));
    }
  }
  return base;
}

Result<ExprPtr> Compiler::CompileMeta(const MetaReference& meta) {
  // META() of a value that is no document, such as a row of a subquery, is MISSING.
  if (layout_.FindSource(meta.variable) == nullptr) return MakeLiteral(Value());
  return MakeMeta(layout_.SourceIndex(meta.variable), meta.field,
                  variables_[meta.variable].keyspace_name);
}

// AND, OR and NOT do not evaluate all arguments, and EXISTS need not read all rows of a subquery,
// so they are not ordinary calls.
Result<ExprPtr> Compiler::CompileCall(const Expression& expression) {
  const std::string& name = expression.name;
  if (name == "exists") return CompileExists(expression);
  if (name == "and" || name == "or" || name == "not") return CompileLogic(expression);
  if ((name == "eq" || name == "lt" || name == "le") && expression.args.size() == 2) {
    return CompileComparison(expression);
  }
  if (expression.user_function != nullptr) return CompileUserCall(expression);
  const ScalarFunction* function = FindFunction(name);
  if (function == nullptr) {
    if (IsWindowFunction(name) && expression.window == nullptr) {
      return Unexpected(
          AtPlace(QueryError(QueryCode::kPlan, "{}() needs a window: add OVER (...)", name),
                  expression.place));
    }
    if (FindAggregate(name) != nullptr || IsWindowFunction(name)) {
      return Unexpected(
          AtPlace(QueryError(QueryCode::kPlan, "{}() can't be used here", name), expression.place));
    }
    return Unexpected(UnknownFunction(expression));
  }
  RETURN_IF_ERROR(CheckArguments(*function, expression));
  ASSIGN_OR_RETURN(std::vector<ExprPtr> args, CompileAll(expression.args));
  if (ExprPtr folded = Fold(*function, args)) return folded;
  // A list of constants is hashed once, when the plan is made.
  if (name == "in" && args[1]->constant() != nullptr && args[1]->constant()->is_array() &&
      args[1]->constant()->size() >= kHashedConstants) {
    return MakeInConstants(std::move(args[0]), *args[1]->constant());
  }
  return MakeCall(*function, std::move(args));
}

Result<ExprPtr> Compiler::CompileUserCall(const Expression& call) {
  if (call.user_function->aggregate) {
    return Unexpected(
        AtPlace(QueryError(QueryCode::kPlan, "{}() can't be used here", call.name), call.place));
  }
  if (call.distinct || call.filter != nullptr) {
    return Unexpected(
        AtPlace(QueryError(QueryCode::kPlan, "{}() is not an aggregate: it takes no {}", call.name,
                           call.distinct ? "DISTINCT" : "FILTER"),
                call.place));
  }
  ASSIGN_OR_RETURN(std::vector<ExprPtr> args, CompileAll(call.args));
  return MakeUserCall(call.user_function, std::move(args));
}

Result<ExprPtr> Compiler::CompileLogic(const Expression& expression) {
  ASSIGN_OR_RETURN(std::vector<ExprPtr> args, CompileAll(expression.args));
  if (expression.name == "not" && args.size() == 1) return MakeNot(std::move(args[0]));
  if (expression.name == "not" || args.size() < 2) {
    return Unexpected(AtPlace(
        QueryError(QueryCode::kSyntax, "{}() with {} arguments", expression.name, args.size()),
        expression.place));
  }
  return expression.name == "and" ? MakeAnd(std::move(args)) : MakeOr(std::move(args));
}

Result<ExprPtr> Compiler::CompileComparison(const Expression& expression) {
  ASSIGN_OR_RETURN(std::vector<ExprPtr> args, CompileAll(expression.args));
  if (ExprPtr folded = Fold(*FindFunction(expression.name), args)) return folded;
  const Comparison comparison = expression.name == "eq"   ? Comparison::kEqual
                                : expression.name == "lt" ? Comparison::kLess
                                                          : Comparison::kLessEqual;
  return MakeComparison(comparison, std::move(args[0]), std::move(args[1]));
}

Result<ExprPtr> Compiler::CompileComprehension(const Expression& expression) {
  ComprehensionParts parts;
  switch (expression.kind) {
    case ExprKind::kAny:
      parts.kind = ComprehensionKind::kAny;
      break;
    case ExprKind::kEvery:
      parts.kind = ComprehensionKind::kEvery;
      break;
    case ExprKind::kAnyAndEvery:
      parts.kind = ComprehensionKind::kAnyAndEvery;
      break;
    case ExprKind::kArrayFor:
      parts.kind = ComprehensionKind::kArray;
      break;
    case ExprKind::kFirstFor:
      parts.kind = ComprehensionKind::kFirst;
      break;
    default:
      parts.kind = ComprehensionKind::kObject;
      break;
  }
  const Comprehension& source = *expression.comprehension;
  for (const RangeBinding& binding : source.bindings) {
    RangeExpr range{.name = binding.name_id, .value = binding.value_id, .within = binding.within};
    ASSIGN_OR_RETURN(range.source, Compile(*binding.source));
    parts.ranges.push_back(std::move(range));
  }
  ASSIGN_OR_RETURN(parts.name, CompileOptional(source.name));
  ASSIGN_OR_RETURN(parts.body, CompileOptional(source.body));
  ASSIGN_OR_RETURN(parts.when, CompileOptional(source.when));
  return MakeComprehension(std::move(parts));
}

Result<ExprPtr> Compiler::CompileObject(const Expression& expression) {
  std::vector<ObjectEntry> entries;
  for (size_t i = 0; i + 1 < expression.args.size(); i += 2) {
    ObjectEntry entry;
    ASSIGN_OR_RETURN(entry.name, Compile(*expression.args[i]));
    ASSIGN_OR_RETURN(entry.value, Compile(*expression.args[i + 1]));
    entries.push_back(std::move(entry));
  }
  const bool constant = std::ranges::all_of(entries, [](const ObjectEntry& entry) {
    return entry.name->constant() != nullptr && entry.name->constant()->is_string() &&
           entry.value->constant() != nullptr;
  });
  if (!constant) return MakeObject(std::move(entries));
  Value object = Value::EmptyObject();
  for (const ObjectEntry& entry : entries) {
    object.Set(entry.name->constant()->AsString(), *entry.value->constant());
  }
  return MakeLiteral(std::move(object));
}

Result<ExprPtr> Compiler::CompileSubquery(const Expression& expression) {
  // Expressions of indexes, CHECK and DEFAULT are compiled without a planner: they see one
  // document.
  if (subqueries_ == nullptr) {
    return Unexpected(
        AtPlace(QueryError(QueryCode::kPlan, "a subquery can't stand here"), expression.place));
  }
  ASSIGN_OR_RETURN(auto plan, subqueries_->PlanSubquery(*expression.query));
  return MakeSubquery(std::move(plan), {.kind = SubqueryKind::kRows,
                                        .correlated = expression.query->correlated,
                                        // Results of uncorrelated subqueries are kept by this
                                        // number, once per run.
                                        .number = layout_.NewSubquery()});
}

Result<ExprPtr> Compiler::CompileExists(const Expression& expression) {
  // EXISTS of a subquery stops at its first row.
  if (expression.args.size() == 1 && expression.args[0]->kind == ExprKind::kSubquery &&
      subqueries_ != nullptr) {
    const Query& query = *expression.args[0]->query;
    ASSIGN_OR_RETURN(auto plan, subqueries_->PlanSubquery(query));
    return MakeSubquery(std::move(plan), {.kind = SubqueryKind::kExists,
                                          .correlated = query.correlated,
                                          .number = layout_.NewSubquery()});
  }
  RETURN_IF_ERROR(CheckArguments(*FindFunction("exists"), expression));
  ASSIGN_OR_RETURN(std::vector<ExprPtr> args, CompileAll(expression.args));
  return MakeCall(*FindFunction("exists"), std::move(args));
}

}  // namespace sluice::query
