// AND: false wins, then MISSING, then NULL. OR: true wins, then NULL, then MISSING.
#include "query/exec/expr_logic.h"

#include <unordered_set>
#include <utility>

#include "json/compare.h"
#include "query/exec/held_values.h"
#include "query/functions/comparison.h"

namespace sluice::query {
namespace {

class AndExpr final : public Expr {
 public:
  explicit AndExpr(std::vector<ExprPtr> operands) : operands_(std::move(operands)) {}
  const Value& Eval(Context& context, Value& scratch) const override {
    bool missing = false;
    bool null = false;
    for (const ExprPtr& operand : operands_) {
      const Value& value = operand->Eval(context, scratch);
      if (value.is_missing()) {
        missing = true;
      } else if (value.is_null()) {
        null = true;
      } else if (!Truth(value)) {
        scratch = false;
        return scratch;
      }
    }
    scratch = missing ? Value() : null ? Value(nullptr) : Value(true);
    return scratch;
  }

 private:
  const std::vector<ExprPtr> operands_;
};

class OrExpr final : public Expr {
 public:
  explicit OrExpr(std::vector<ExprPtr> operands) : operands_(std::move(operands)) {}
  const Value& Eval(Context& context, Value& scratch) const override {
    bool missing = false;
    bool null = false;
    for (const ExprPtr& operand : operands_) {
      const Value& value = operand->Eval(context, scratch);
      if (value.is_missing()) {
        missing = true;
      } else if (value.is_null()) {
        null = true;
      } else if (Truth(value)) {
        scratch = true;
        return scratch;
      }
    }
    scratch = null ? Value(nullptr) : missing ? Value() : Value(false);
    return scratch;
  }

 private:
  const std::vector<ExprPtr> operands_;
};

class NotExpr final : public Expr {
 public:
  explicit NotExpr(ExprPtr operand) : operand_(std::move(operand)) {}
  const Value& Eval(Context& context, Value& scratch) const override {
    scratch = Not(operand_->Eval(context, scratch));
    return scratch;
  }

 private:
  const ExprPtr operand_;
};

Value Compared(Comparison comparison, const Value& left, const Value& right) {
  switch (comparison) {
    case Comparison::kEqual:
      return CompareEq(left, right);
    case Comparison::kLess:
      return CompareLess(left, right);
    case Comparison::kLessEqual:
      return CompareLessEqual(left, right);
  }
  return Value();
}

class ComparisonExpr final : public Expr {
 public:
  ComparisonExpr(Comparison comparison, ExprPtr left, ExprPtr right)
      : comparison_(comparison), left_(std::move(left)), right_(std::move(right)) {}
  const Value& Eval(Context& context, Value& scratch) const override {
    Value right_scratch;
    const Value& left = left_->Eval(context, scratch);
    HeldValues held(context);
    const bool large = left.is_array() || left.is_object();
    if (large && &left == &scratch) held.Add(left);
    const Value& right = right_->Eval(context, right_scratch);
    if (large) context.Tick(left.size());
    scratch = Compared(comparison_, left, right);
    return scratch;
  }

 private:
  const Comparison comparison_;
  const ExprPtr left_;
  const ExprPtr right_;
};

class InConstantsExpr final : public Expr {
 public:
  InConstantsExpr(ExprPtr operand, const Value& list) : operand_(std::move(operand)) {
    for (const Value& item : list.items()) {
      has_null_ |= item.is_null();
      has_missing_ |= item.is_missing();
      if (!item.is_null() && !item.is_missing()) values_.insert(item);
    }
  }
  const Value& Eval(Context& context, Value& scratch) const override {
    scratch = Look(operand_->Eval(context, scratch));
    return scratch;
  }

 private:
  Value Look(const Value& value) const {
    if (value.is_missing()) return Value();
    const bool null = has_null_ || (value.is_null() && !values_.empty());
    if (!value.is_null()) {
      // A value that is equal in the set's order may hold a NULL inside, which equals nothing here.
      const auto found = values_.find(value);
      if (found != values_.end() && Truth(CompareEq(value, *found))) return true;
    }
    return null ? Value(nullptr) : has_missing_ ? Value() : Value(false);
  }

  const ExprPtr operand_;
  std::unordered_set<Value, json::ValueHash> values_;
  bool has_null_ = false;
  bool has_missing_ = false;
};

class CaseExpr final : public Expr {
 public:
  CaseExpr(ExprPtr operand, std::vector<ExprPtr> arms, ExprPtr otherwise)
      : operand_(std::move(operand)), arms_(std::move(arms)), otherwise_(std::move(otherwise)) {}
  const Value& Eval(Context& context, Value& scratch) const override {
    Value operand_scratch;
    const Value* operand =
        operand_ == nullptr ? nullptr : &operand_->Eval(context, operand_scratch);
    for (size_t i = 0; i + 1 < arms_.size(); i += 2) {
      const Value& when = arms_[i]->Eval(context, scratch);
      const bool chosen = operand == nullptr ? Truth(when) : Truth(CompareEq(*operand, when));
      if (chosen) return arms_[i + 1]->Eval(context, scratch);
    }
    if (otherwise_ != nullptr) return otherwise_->Eval(context, scratch);
    scratch = nullptr;
    return scratch;
  }

 private:
  const ExprPtr operand_;
  const std::vector<ExprPtr> arms_;
  const ExprPtr otherwise_;
};

}  // namespace

ExprPtr MakeAnd(std::vector<ExprPtr> operands) {
  return std::make_unique<AndExpr>(std::move(operands));
}
ExprPtr MakeOr(std::vector<ExprPtr> operands) {
  return std::make_unique<OrExpr>(std::move(operands));
}
ExprPtr MakeNot(ExprPtr operand) { return std::make_unique<NotExpr>(std::move(operand)); }
ExprPtr MakeComparison(Comparison comparison, ExprPtr left, ExprPtr right) {
  return std::make_unique<ComparisonExpr>(comparison, std::move(left), std::move(right));
}
ExprPtr MakeInConstants(ExprPtr operand, const Value& list) {
  return std::make_unique<InConstantsExpr>(std::move(operand), list);
}
ExprPtr MakeSearchedCase(std::vector<ExprPtr> arms, ExprPtr otherwise) {
  return std::make_unique<CaseExpr>(nullptr, std::move(arms), std::move(otherwise));
}
ExprPtr MakeSimpleCase(ExprPtr operand, std::vector<ExprPtr> arms, ExprPtr otherwise) {
  return std::make_unique<CaseExpr>(std::move(operand), std::move(arms), std::move(otherwise));
}

}  // namespace sluice::query
