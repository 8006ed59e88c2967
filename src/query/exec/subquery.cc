#include "query/exec/subquery.h"

#include <utility>
#include <vector>

#include "base/mutex.h"
#include "query/value_size.h"

namespace sluice::query {
namespace {

// The memory of a row of a result, without the value itself.
constexpr size_t kResultBytes = 64;

class SubqueryExpr final : public Expr {
 public:
  SubqueryExpr(std::shared_ptr<const QueryPlan> plan, SubqueryOptions options)
      : plan_(std::move(plan)), options_(options) {}

  const Value& Eval(Context& context, Value& scratch) const override {
    std::unique_ptr<SubqueryState>& state = context.subquery(options_.number);
    if (state == nullptr) {
      state = std::make_unique<SubqueryState>();
      if (!options_.correlated && context.scan() != nullptr) {
        state->value = ValueForAll(context);
        state->done = true;
      } else {
        state->rows = plan_->root->Start();
      }
    }
    if (state->done) return state->value;
    if (options_.correlated) {
      scratch = Run(context, *state->rows);
      return scratch;
    }
    state->value = Run(context, *state->rows);
    state->done = true;
    return state->value;
  }

 private:
  // One of the threads of a scan runs it, in the statement's context.
  Value ValueForAll(Context& context) const {
    SharedScan& scan = *context.scan();
    const MutexLock lock(scan.mutex);
    Value value = Get(scan.whole);
    if (scan.whole.failed()) context.Fail(scan.whole.status());
    return value;
  }

  Value Run(Context& context, Operator& input) const {
    input.Open(context);
    if (options_.kind == SubqueryKind::kExists) return input.Next(context);
    std::vector<Value> results;
    size_t charged = 0;
    while (input.Next(context)) {
      results.push_back(context.slot(plan_->result));
      if (results.back().is_missing()) results.back() = nullptr;
      const size_t bytes = kResultBytes + HeldBytes(results.back());
      charged += bytes;
      if (!context.Charge(bytes)) break;
    }
    if (options_.correlated) context.Release(charged);
    Value rows = Value::Array(std::move(results));
    if (!FitsLimits(rows)) {
      context.Fail(QueryError(QueryCode::kTooLarge, "the rows of a subquery are too large"));
    }
    return rows;
  }

  std::shared_ptr<const QueryPlan> plan_;
  SubqueryOptions options_;
};

}  // namespace

ExprPtr MakeSubquery(std::shared_ptr<const QueryPlan> plan, SubqueryOptions options) {
  return std::make_unique<SubqueryExpr>(std::move(plan), options);
}

}  // namespace sluice::query
