#include <utility>

#include "query/exec/joins.h"
#include "query/value_size.h"

namespace sluice::query {
namespace {

class NestedLoop final : public PlanNode {
 public:
  explicit NestedLoop(NestedLoopOptions options) : options_(std::move(options)) {}
  std::unique_ptr<Operator> Start() const override { return std::make_unique<Run>(options_); }
  std::optional<ScannedSource> Splittable() const override { return options_.left->Splittable(); }
  Value Explain() const override {
    return Explained(options_.name, {{"outer", options_.outer ? Value(true) : Value()},
                                     {"left", options_.left->Explain()},
                                     {"right", options_.right->Explain()}});
  }

 private:
  class Run final : public Operator {
   public:
    explicit Run(const NestedLoopOptions& options)
        : options_(options), left_(options.left->Start()), right_(options.right->Start()) {}

    void Open(Context& context) override {
      left_->Open(context);
      in_row_ = false;
    }

    bool Next(Context& context) override {
      for (;;) {
        if (!in_row_) {
          if (!left_->Next(context)) return false;
          right_->Open(context);
          in_row_ = true;
          matched_ = false;
        }
        while (right_->Next(context)) {
          if (options_.condition != nullptr && !options_.condition->IsTrue(context)) continue;
          matched_ = true;
          return !context.failed();
        }
        in_row_ = false;
        if (context.failed()) return false;
        if (options_.outer && !matched_) {
          options_.right_variables.Clear(context);
          return true;
        }
      }
    }

   private:
    const NestedLoopOptions& options_;
    std::unique_ptr<Operator> left_;
    std::unique_ptr<Operator> right_;
    bool in_row_ = false;
    bool matched_ = false;
  };

  const NestedLoopOptions options_;
};

class Materialized final : public PlanNode {
 public:
  Materialized(PlanPtr input, RowVariables variables, const Layout* layout)
      : input_(std::move(input)), variables_(std::move(variables)), layout_(layout) {}
  std::unique_ptr<Operator> Start() const override {
    return std::make_unique<Run>(input_->Start(), RowKeeper(*layout_, variables_));
  }
  Value Explain() const override { return Explained("Materialize", {}, input_.get()); }

 private:
  class Run final : public Operator {
   public:
    Run(std::unique_ptr<Operator> input, RowKeeper keeper)
        : input_(std::move(input)), keeper_(std::move(keeper)), rows_(keeper_.width()) {}

    void Open(Context& context) override {
      position_ = 0;
      if (std::exchange(filled_, true)) return;
      input_->Open(context);
      while (input_->Next(context)) {
        keeper_.Save(context, rows_.Add());
        if (!context.Charge(rows_.held_bytes(rows_.size() - 1))) return;
      }
    }
    bool Next(Context& context) override {
      if (position_ >= rows_.size() || !context.Tick()) return false;
      keeper_.Restore(context, rows_[position_++]);
      return true;
    }

   private:
    std::unique_ptr<Operator> input_;
    const RowKeeper keeper_;
    KeptRows rows_;
    bool filled_ = false;
    size_t position_ = 0;
  };

  const PlanPtr input_;
  const RowVariables variables_;
  const Layout* layout_;
};

class Nest final : public PlanNode {
 public:
  explicit Nest(NestOptions options) : options_(std::move(options)) {}
  std::unique_ptr<Operator> Start() const override { return std::make_unique<Run>(options_); }
  Value Explain() const override {
    return Explained("Nest", {{"as", Value(options_.alias)},
                              {"outer", options_.outer ? Value(true) : Value()},
                              {"left", options_.left->Explain()},
                              {"right", options_.right->Explain()}});
  }

 private:
  class Run final : public Operator {
   public:
    explicit Run(const NestOptions& options)
        : options_(options), left_(options.left->Start()), right_(options.right->Start()) {}

    void Open(Context& context) override { left_->Open(context); }

    bool Next(Context& context) override {
      while (left_->Next(context)) {
        std::vector<Value> items;
        context.Release(std::exchange(charged_, 0));
        right_->Open(context);
        while (right_->Next(context)) {
          if (options_.condition != nullptr && !options_.condition->IsTrue(context)) continue;
          items.push_back(options_.item->Get(context));
          const size_t bytes = ApproximateBytes(items.back());
          charged_ += bytes;
          if (!context.Charge(bytes)) return false;
        }
        if (context.failed()) return false;
        if (items.empty() && !options_.outer) continue;
        const bool unknown = items.empty() && UnknownKeys(context);
        context.slot(options_.slot) = unknown ? Value() : Value::Array(std::move(items));
        return true;
      }
      return false;
    }

   private:
    bool UnknownKeys(Context& context) const {
      if (options_.keys == nullptr) return false;
      Value scratch;
      const Value& keys = options_.keys->Eval(context, scratch);
      return keys.is_missing() || keys.is_null();
    }

    const NestOptions& options_;
    std::unique_ptr<Operator> left_;
    std::unique_ptr<Operator> right_;
    size_t charged_ = 0;  // for the present row's items
  };

  const NestOptions options_;
};

}  // namespace

PlanPtr MakeNestedLoop(NestedLoopOptions options) {
  return std::make_unique<NestedLoop>(std::move(options));
}
PlanPtr MakeMaterialized(PlanPtr input, RowVariables variables, const Layout* layout) {
  return std::make_unique<Materialized>(std::move(input), std::move(variables), layout);
}
PlanPtr MakeNest(NestOptions options) { return std::make_unique<Nest>(std::move(options)); }

}  // namespace sluice::query
