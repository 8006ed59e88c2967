#include "query/exec/steps.h"

#include <unordered_set>
#include <utility>

#include "json/compare.h"
#include "query/exec/held_values.h"
#include "query/value_size.h"

namespace sluice::query {
namespace {

// The approximate memory of a value in a set.
constexpr size_t kKeptBytes = 96;

class Filter final : public PlanNode {
 public:
  Filter(PlanPtr input, ExprPtr condition, std::string text)
      : input_(std::move(input)), condition_(std::move(condition)), text_(std::move(text)) {}
  std::unique_ptr<Operator> Start() const override {
    return std::make_unique<Run>(input_->Start(), *condition_);
  }
  std::optional<ScannedSource> Splittable() const override { return input_->Splittable(); }
  Value Explain() const override {
    return Explained("Filter", {{"condition", Value(text_)}}, input_.get());
  }

 private:
  class Run final : public Operator {
   public:
    Run(std::unique_ptr<Operator> input, const Expr& condition)
        : input_(std::move(input)), condition_(condition) {}
    void Open(Context& context) override { input_->Open(context); }
    bool Next(Context& context) override {
      while (input_->Next(context)) {
        if (condition_.IsTrue(context)) return !context.failed();
        if (context.failed()) return false;
      }
      return false;
    }

   private:
    std::unique_ptr<Operator> input_;
    const Expr& condition_;
  };

  const PlanPtr input_;
  const ExprPtr condition_;
  const std::string text_;
};

class Let final : public PlanNode {
 public:
  Let(PlanPtr input, std::vector<SlotAssignment> assignments)
      : input_(std::move(input)), assignments_(std::move(assignments)) {}
  std::unique_ptr<Operator> Start() const override {
    return std::make_unique<Run>(input_->Start(), assignments_);
  }
  std::optional<ScannedSource> Splittable() const override { return input_->Splittable(); }
  Value Explain() const override {
    Value names = Value::EmptyArray();
    for (const SlotAssignment& assignment : assignments_) names.Append(Value(assignment.name));
    return Explained("Let", {{"bindings", std::move(names)}}, input_.get());
  }

 private:
  class Run final : public Operator {
   public:
    Run(std::unique_ptr<Operator> input, const std::vector<SlotAssignment>& assignments)
        : input_(std::move(input)), assignments_(assignments) {}
    void Open(Context& context) override { input_->Open(context); }
    bool Next(Context& context) override {
      if (!input_->Next(context)) return false;
      size_t bytes = 0;
      for (const SlotAssignment& assignment : assignments_) {
        bytes += Assign(context, *assignment.value, context.slot(assignment.slot));
        charge_.Set(context, bytes);
      }
      return !context.failed();
    }

   private:
    std::unique_ptr<Operator> input_;
    const std::vector<SlotAssignment>& assignments_;
    RowCharge charge_;
  };

  const PlanPtr input_;
  const std::vector<SlotAssignment> assignments_;
};

class Project final : public PlanNode {
 public:
  Project(PlanPtr input, ExprPtr result, Slot slot, std::string text)
      : input_(std::move(input)), result_(std::move(result)), slot_(slot), text_(std::move(text)) {}
  std::unique_ptr<Operator> Start() const override {
    return std::make_unique<Run>(input_->Start(), *result_, slot_);
  }
  Value Explain() const override {
    return Explained("Project", {{"result", Value(text_)}}, input_.get());
  }

 private:
  class Run final : public Operator {
   public:
    Run(std::unique_ptr<Operator> input, const Expr& result, Slot slot)
        : input_(std::move(input)), result_(result), slot_(slot) {}
    void Open(Context& context) override { input_->Open(context); }
    bool Next(Context& context) override {
      if (!input_->Next(context)) return false;
      context.slot(slot_) = result_.Get(context);
      return !context.failed();
    }

   private:
    std::unique_ptr<Operator> input_;
    const Expr& result_;
    const Slot slot_;
  };

  const PlanPtr input_;
  const ExprPtr result_;
  const Slot slot_;
  const std::string text_;
};

class Distinct final : public PlanNode {
 public:
  Distinct(PlanPtr input, Slot slot) : input_(std::move(input)), slot_(slot) {}
  std::unique_ptr<Operator> Start() const override {
    return std::make_unique<Run>(input_->Start(), slot_);
  }
  Value Explain() const override { return Explained("Distinct", {}, input_.get()); }

 private:
  class Run final : public Operator {
   public:
    Run(std::unique_ptr<Operator> input, Slot slot) : input_(std::move(input)), slot_(slot) {}
    void Open(Context& context) override {
      context.Release(std::exchange(charged_, 0));
      seen_.clear();
      input_->Open(context);
    }
    bool Next(Context& context) override {
      while (input_->Next(context)) {
        if (!seen_.insert(context.slot(slot_)).second) continue;
        const size_t bytes = kKeptBytes + HeldBytes(context.slot(slot_));
        charged_ += bytes;
        return context.Charge(bytes);
      }
      return false;
    }

   private:
    std::unique_ptr<Operator> input_;
    const Slot slot_;
    std::unordered_set<Value, json::ValueHash> seen_;
    size_t charged_ = 0;
  };

  const PlanPtr input_;
  const Slot slot_;
};

class Limit final : public PlanNode {
 public:
  Limit(PlanPtr input, ExprPtr limit, ExprPtr offset)
      : input_(std::move(input)), limit_(std::move(limit)), offset_(std::move(offset)) {}
  std::unique_ptr<Operator> Start() const override {
    return std::make_unique<Run>(input_->Start(), limit_.get(), offset_.get());
  }
  Value Explain() const override {
    return Explained("Limit",
                     {{"limit", limit_ != nullptr ? Value(true) : Value()},
                      {"offset", offset_ != nullptr ? Value(true) : Value()}},
                     input_.get());
  }

 private:
  class Run final : public Operator {
   public:
    Run(std::unique_ptr<Operator> input, const Expr* limit, const Expr* offset)
        : input_(std::move(input)), limit_(limit), offset_(offset) {}
    void Open(Context& context) override {
      left_ = limit_ == nullptr ? UINT64_MAX : CountOf(context, *limit_, "LIMIT");
      skip_ = offset_ == nullptr ? 0 : CountOf(context, *offset_, "OFFSET");
      if (left_ > 0 && !context.failed()) input_->Open(context);
    }
    bool Next(Context& context) override {
      if (left_ == 0 || context.failed()) return false;
      for (; skip_ > 0; --skip_) {
        if (!input_->Next(context)) return false;
      }
      if (!input_->Next(context)) return false;
      --left_;
      return true;
    }

   private:
    std::unique_ptr<Operator> input_;
    const Expr* limit_;
    const Expr* offset_;
    uint64_t left_ = 0;
    uint64_t skip_ = 0;
  };

  const PlanPtr input_;
  const ExprPtr limit_;
  const ExprPtr offset_;
};

}  // namespace

uint64_t CountOf(Context& context, const Expr& expr, std::string_view clause) {
  Value scratch;
  const Value& value = expr.Eval(context, scratch);
  if (value.is_int()) return value.AsInt() < 0 ? 0 : static_cast<uint64_t>(value.AsInt());
  if (value.is_number()) {
    const double number = value.ToDouble();
    if (number <= 0) return 0;
    if (number >= 1e18) return UINT64_MAX;
    if (number == static_cast<double>(static_cast<int64_t>(number))) {
      return static_cast<uint64_t>(number);
    }
  }
  context.Fail(QueryError(QueryCode::kBadLimit, "{} takes a whole number, got a {}", clause,
                          value.is_number() ? "fraction" : json::TypeName(value.type())));
  return 0;
}

PlanPtr MakeFilter(PlanPtr input, ExprPtr condition, std::string text) {
  return std::make_unique<Filter>(std::move(input), std::move(condition), std::move(text));
}
PlanPtr MakeLet(PlanPtr input, std::vector<SlotAssignment> assignments) {
  return std::make_unique<Let>(std::move(input), std::move(assignments));
}
PlanPtr MakeProject(PlanPtr input, ExprPtr result, Slot slot, std::string text) {
  return std::make_unique<Project>(std::move(input), std::move(result), slot, std::move(text));
}
PlanPtr MakeDistinct(PlanPtr input, Slot slot) {
  return std::make_unique<Distinct>(std::move(input), slot);
}
PlanPtr MakeLimit(PlanPtr input, ExprPtr limit, ExprPtr offset) {
  return std::make_unique<Limit>(std::move(input), std::move(limit), std::move(offset));
}

}  // namespace sluice::query
