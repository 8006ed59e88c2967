// Window functions over the rows of a block. Calls with the same PARTITION BY and ORDER BY share a
// sort.
#include <algorithm>
#include <utility>

#include "query/error.h"
#include "query/exec/window.h"
#include "query/plan/planner.h"

namespace sluice::query {
namespace {

using Bound = WindowFrame::Bound;

// How each window function may be called. Every aggregate is a window function, too, and takes a
// frame, FILTER and DISTINCT.
struct FunctionRule {
  std::string_view name;
  WindowFunction function;
  size_t min_arguments;
  size_t max_arguments;
  bool takes_frame;
};

constexpr FunctionRule kRules[] = {
    {"cume_dist", WindowFunction::kCumeDist, 0, 0, false},
    {"dense_rank", WindowFunction::kDenseRank, 0, 0, false},
    {"first_value", WindowFunction::kFirstValue, 1, 1, true},
    {"lag", WindowFunction::kLag, 1, 3, false},
    {"last_value", WindowFunction::kLastValue, 1, 1, true},
    {"lead", WindowFunction::kLead, 1, 3, false},
    {"nth_value", WindowFunction::kNthValue, 2, 2, true},
    {"ntile", WindowFunction::kNtile, 1, 1, false},
    {"percent_rank", WindowFunction::kPercentRank, 0, 0, false},
    {"rank", WindowFunction::kRank, 0, 0, false},
    {"ratio_to_report", WindowFunction::kRatioToReport, 1, 1, true},
    {"row_number", WindowFunction::kRowNumber, 0, 0, false},
};

// Null for an aggregate.
const FunctionRule* FindRule(std::string_view name) {
  const auto* found = std::ranges::find(kRules, name, &FunctionRule::name);
  return found == std::end(kRules) ? nullptr : found;
}

bool Same(const ExpressionPtr& a, const ExpressionPtr& b) {
  return a == nullptr || b == nullptr ? a == b : SameExpression(*a, *b);
}

bool SameSort(const WindowSpec& a, const WindowSpec& b) {
  return std::ranges::equal(a.partition_by, b.partition_by, Same) &&
         std::ranges::equal(a.order_by, b.order_by, [](const SortTerm& x, const SortTerm& y) {
           return x.descending == y.descending && x.nulls == y.nulls &&
                  Same(x.expression, y.expression) && Same(x.direction, y.direction);
         });
}

Status CheckArguments(const Expression& call, const FunctionRule& rule) {
  const size_t given = call.args.size();
  if (given >= rule.min_arguments && given <= rule.max_arguments) return OkStatus();
  const std::string expected =
      rule.min_arguments == rule.max_arguments
          ? fmt::format("{}", rule.min_arguments)
          : fmt::format("{} to {}", rule.min_arguments, rule.max_arguments);
  return QueryError(QueryCode::kSyntax, "{}() takes {} arguments, not {}", call.name, expected,
                    given);
}

Status CheckFrame(const WindowSpec& spec) {
  if (!spec.frame) return OkStatus();
  const bool offsets = spec.frame->start_offset != nullptr || spec.frame->end_offset != nullptr;
  if (spec.frame->unit == WindowFrame::Unit::kRange && offsets && spec.order_by.size() != 1) {
    return QueryError(QueryCode::kPlan, "RANGE with an offset needs one ORDER BY term, not {}",
                      spec.order_by.size());
  }
  if (spec.frame->unit == WindowFrame::Unit::kGroups && spec.order_by.empty()) {
    return QueryError(QueryCode::kPlan, "GROUPS needs an ORDER BY in the window");
  }
  return OkStatus();
}

Status CheckCall(const Expression& call) {
  const FunctionRule* rule = FindRule(call.name);
  const bool aggregate = call.user_function != nullptr ? call.user_function->aggregate
                                                       : FindAggregate(call.name) != nullptr;
  if (rule == nullptr && !aggregate) {
    return QueryError(QueryCode::kPlan, "{}() is not a window function, so it can't have OVER",
                      call.name);
  }
  if (rule != nullptr) {
    RETURN_IF_ERROR(CheckArguments(call, *rule));
    if (call.window->frame && !rule->takes_frame) {
      return QueryError(QueryCode::kPlan, "{}() takes no ROWS, RANGE or GROUPS", call.name);
    }
    if (call.filter != nullptr) {
      return QueryError(QueryCode::kPlan, "{}() takes no FILTER: only aggregates do", call.name);
    }
    if (call.distinct) {
      return QueryError(QueryCode::kPlan, "{}() takes no DISTINCT: only aggregates do", call.name);
    }
  }
  return CheckFrame(*call.window);
}

}  // namespace

Result<WindowCall> Planner::CompileWindowCall(const Expression& call) {
  if (const Status status = CheckCall(call); !status.ok()) {
    return Unexpected(AtPlace(status, call.place));
  }
  WindowCall compiled;
  compiled.text = ToText(call);
  compiled.ignore_nulls = call.ignore_nulls;
  compiled.from_last = call.from_last;
  ExprPtr filter;
  if (const FunctionRule* rule = FindRule(call.name)) {
    compiled.function = rule->function;
    if (rule->function == WindowFunction::kRatioToReport) compiled.aggregate = FindAggregate("sum");
    ASSIGN_OR_RETURN(compiled.inputs, compiler_.CompileAll(call.args));
  } else {
    ASSIGN_OR_RETURN(AggregateExpr aggregate, CompileAggregate(call));
    compiled.aggregate = aggregate.function;
    compiled.user_function = aggregate.user_function;
    compiled.distinct = aggregate.distinct;
    if (aggregate.argument != nullptr) compiled.inputs.push_back(std::move(aggregate.argument));
    filter = std::move(aggregate.filter);
  }
  compiled.arguments = compiled.inputs.size();
  const auto add_input = [&](ExprPtr input, std::optional<size_t>* number) {
    if (input == nullptr) return;
    *number = compiled.inputs.size();
    compiled.inputs.push_back(std::move(input));
  };
  // All inputs are evaluated once for each row and kept with it: first the arguments, then the
  // filter and the offsets of the frame, each known by its number.
  add_input(std::move(filter), &compiled.filter);
  if (!call.window->frame) return compiled;
  const WindowFrame& frame = *call.window->frame;
  compiled.frame.unit = frame.unit;
  compiled.frame.start = frame.start;
  compiled.frame.end = frame.end;
  compiled.frame.exclude = frame.exclude;
  ASSIGN_OR_RETURN(ExprPtr start, compiler_.CompileOptional(frame.start_offset));
  add_input(std::move(start), &compiled.frame.start_offset);
  ASSIGN_OR_RETURN(ExprPtr end, compiler_.CompileOptional(frame.end_offset));
  add_input(std::move(end), &compiled.frame.end_offset);
  return compiled;
}

Result<PlanPtr> Planner::PlanWindows(const SelectBlock& block, PlanPtr input,
                                     RowVariables variables) {
  WindowOptions options;
  options.input = std::move(input);
  options.variables = std::move(variables);
  std::vector<const WindowSpec*> specs;  // of the groups
  // One sort for each different PARTITION BY and ORDER BY; frames may differ within it.
  for (const NamedExpression& named : block.window_calls) {
    const WindowSpec& spec = *named.expression->window;
    const auto known = std::ranges::find_if(
        specs, [&](const WindowSpec* other) { return SameSort(*other, spec); });
    const auto number = static_cast<size_t>(known - specs.begin());
    if (known == specs.end()) {
      specs.push_back(&spec);
      WindowGroup& group = options.groups.emplace_back();
      ASSIGN_OR_RETURN(group.partition_by, compiler_.CompileAll(spec.partition_by));
      ASSIGN_OR_RETURN(group.order_by, CompileSortKeys(spec.order_by));
    }
    ASSIGN_OR_RETURN(WindowCall call, CompileWindowCall(*named.expression));
    call.slot = named.variable;
    options.groups[number].calls.push_back(std::move(call));
  }
  return Counted(MakeWindow(std::move(options)));
}

}  // namespace sluice::query
