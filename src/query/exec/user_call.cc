#include "query/exec/user_call.h"

#include <utility>

#include "query/value_size.h"

namespace sluice::query {
namespace {

// The error of a function as one of the statement.
Status StatementError(const Context& context, const Status& status) {
  if (status.code() == Code::kCancelled) {
    return QueryError(QueryCode::kCancelled, "the statement was cancelled");
  }
  const bool over = context.options().deadline_ms != UINT64_MAX &&
                    context.options().clock->WallMs() >= context.options().deadline_ms;
  if (status.code() == Code::kTimeout && over) {
    return QueryError(QueryCode::kTimeout, "Timeout exceeded: {}", status.message());
  }
  return QueryError(QueryCode::kEvaluation, "{}", status.message());
}

Value Known(Value value) { return value.is_missing() ? Value(nullptr) : value; }

Value ResultOf(Context& context, Result<Value> result) {
  if (!result) {
    context.Fail(StatementError(context, result.error()));
    return nullptr;
  }
  if (!FitsLimits(*result)) {
    context.Fail(QueryError(QueryCode::kTooLarge, "a function's result is too large"));
    return nullptr;
  }
  return Known(std::move(*result));
}

class UserCallExpr final : public Expr {
 public:
  UserCallExpr(std::shared_ptr<const UserFunction> function, std::vector<ExprPtr> args)
      : function_(std::move(function)), args_(std::move(args)) {}

  const Value& Eval(Context& context, Value& scratch) const override {
    std::vector<Value> arguments;
    arguments.reserve(args_.size());
    for (const ExprPtr& arg : args_) arguments.push_back(Known(arg->Get(context)));
    scratch = nullptr;
    if (context.failed()) return scratch;
    UserFunctionRunner* const runner = context.user_functions();
    if (runner == nullptr) return scratch;
    if (!function_->deterministic) {
      scratch = ResultOf(context, runner->Call(*function_, std::move(arguments)));
      return scratch;
    }
    KnownCall& last = context.last_call(this);
    if (!last.known || last.arguments != arguments) {
      last.result = ResultOf(context, runner->Call(*function_, arguments));
      last.arguments = std::move(arguments);
      last.known = !context.failed();
    }
    scratch = last.result;
    return scratch;
  }

 private:
  const std::shared_ptr<const UserFunction> function_;
  const std::vector<ExprPtr> args_;
};

class UserAccumulator final : public Accumulator {
 public:
  UserAccumulator(Context& context, std::unique_ptr<UserAggregate> aggregate)
      : context_(context), aggregate_(std::move(aggregate)) {}

  void Add(const Value& value) override {
    if (aggregate_ == nullptr || context_.failed()) return;
    const Status status = aggregate_->Step({value.items().begin(), value.items().end()});
    if (!status.ok()) context_.Fail(StatementError(context_, status));
  }
  void Merge(Accumulator&) override {}  // scans are not divided for it
  Value Finish(FunctionContext&) override {
    if (aggregate_ == nullptr || context_.failed()) return nullptr;
    return ResultOf(context_, aggregate_->Final());
  }

 private:
  Context& context_;
  const std::unique_ptr<UserAggregate> aggregate_;  // null when it could not be started
};

}  // namespace

ExprPtr MakeUserCall(std::shared_ptr<const UserFunction> function, std::vector<ExprPtr> args) {
  return std::make_unique<UserCallExpr>(std::move(function), std::move(args));
}

const AggregateFunction& UserAggregateFunction() {
  static constexpr AggregateFunction kFunction{
      .name = "", .make = nullptr, .removable = false, .rounds_in_order = true};
  return kFunction;
}

std::unique_ptr<Accumulator> MakeUserAccumulator(Context& context, const UserFunction& function) {
  UserFunctionRunner* const runner = context.failed() ? nullptr : context.user_functions();
  std::unique_ptr<UserAggregate> aggregate;
  if (runner != nullptr) {
    auto started = runner->StartAggregate(function);
    if (started) {
      aggregate = std::move(*started);
    } else {
      context.Fail(StatementError(context, started.error()));
    }
  }
  return std::make_unique<UserAccumulator>(context, std::move(aggregate));
}

}  // namespace sluice::query
