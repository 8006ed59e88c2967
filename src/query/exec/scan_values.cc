// Rows that do not come from a keyspace.
#include <utility>

#include "query/exec/held_values.h"
#include "query/exec/scans.h"

namespace sluice::query {
namespace {

class DualOperator final : public Operator {
 public:
  void Open(Context&) override { done_ = false; }
  bool Next(Context& context) override { return !std::exchange(done_, true) && !context.failed(); }

 private:
  bool done_ = false;
};

class Dual final : public PlanNode {
 public:
  std::unique_ptr<Operator> Start() const override { return std::make_unique<DualOperator>(); }
  Value Explain() const override { return Explained("DummyScan", {}); }
};

class ValueScan final : public PlanNode {
 public:
  explicit ValueScan(ValueScanOptions options) : options_(std::move(options)) {}
  std::unique_ptr<Operator> Start() const override { return std::make_unique<Run>(options_); }
  Value Explain() const override {
    return Explained(options_.arrays_only ? "Unnest" : "ExpressionScan",
                     {{"expr", Value(options_.text)}, {"as", Value(options_.alias)}});
  }

 private:
  class Run final : public Operator {
   public:
    explicit Run(const ValueScanOptions& options) : options_(options) {}

    void Open(Context& context) override {
      charge_.Set(context, Assign(context, *options_.value, value_));
      position_ = 0;
      rows_ =
          value_.is_array() ? value_.size() : (value_.is_missing() || options_.arrays_only ? 0 : 1);
    }

    bool Next(Context& context) override {
      if (position_ >= rows_ || !context.Tick()) return false;
      context.slot(options_.slot) = value_.is_array() ? value_[position_] : value_;
      if (options_.position_slot != 0) {
        context.slot(options_.position_slot) = Value(static_cast<int64_t>(position_));
      }
      ++position_;
      return true;
    }

   private:
    const ValueScanOptions& options_;
    Value value_;
    RowCharge charge_;
    size_t position_ = 0;
    size_t rows_ = 0;
  };

  const ValueScanOptions options_;
};

class QueryScan final : public PlanNode {
 public:
  QueryScan(std::shared_ptr<const QueryPlan> query, Slot slot, std::string alias)
      : query_(std::move(query)), slot_(slot), alias_(std::move(alias)) {}
  std::unique_ptr<Operator> Start() const override {
    return std::make_unique<Run>(query_->root->Start(), query_->result, slot_);
  }
  Value Explain() const override {
    return Explained("Alias", {{"as", Value(alias_)}}, query_->root.get());
  }

 private:
  class Run final : public Operator {
   public:
    Run(std::unique_ptr<Operator> rows, Slot from, Slot to)
        : rows_(std::move(rows)), from_(from), to_(to) {}
    void Open(Context& context) override { rows_->Open(context); }
    bool Next(Context& context) override {
      if (!rows_->Next(context)) return false;
      context.slot(to_) = context.slot(from_);
      return true;
    }

   private:
    std::unique_ptr<Operator> rows_;
    const Slot from_;
    const Slot to_;
  };

  std::shared_ptr<const QueryPlan> query_;
  const Slot slot_;
  const std::string alias_;
};

class SystemScan final : public PlanNode {
 public:
  SystemScan(std::string name, Slot slot, std::string alias)
      : name_(std::move(name)), slot_(slot), alias_(std::move(alias)) {}
  std::unique_ptr<Operator> Start() const override { return std::make_unique<Run>(name_, slot_); }
  Value Explain() const override {
    return Explained("SystemScan", {{"keyspace", Value("system:" + name_)}, {"as", Value(alias_)}});
  }

 private:
  class Run final : public Operator {
   public:
    Run(const std::string& name, Slot slot) : name_(name), slot_(slot) {}
    void Open(Context& context) override {
      rows_.clear();
      position_ = 0;
      if (context.options().system_rows == nullptr) {
        context.Fail(QueryError(QueryCode::kKeyspaceNotFound, "there is no system:{} here", name_));
        return;
      }
      auto rows = context.options().system_rows(name_);
      if (rows) {
        rows_ = std::move(*rows);
      } else {
        context.Fail(rows.error());
      }
    }
    bool Next(Context& context) override {
      if (position_ >= rows_.size() || context.failed()) return false;
      context.slot(slot_) = rows_[position_++];
      return true;
    }

   private:
    const std::string& name_;
    const Slot slot_;
    std::vector<Value> rows_;
    size_t position_ = 0;
  };

  const std::string name_;
  const Slot slot_;
  const std::string alias_;
};

}  // namespace

PlanPtr MakeDual() { return std::make_unique<Dual>(); }
PlanPtr MakeValueScan(ValueScanOptions options) {
  return std::make_unique<ValueScan>(std::move(options));
}
PlanPtr MakeQueryScan(std::shared_ptr<const QueryPlan> query, Slot slot, std::string alias) {
  return std::make_unique<QueryScan>(std::move(query), slot, std::move(alias));
}
PlanPtr MakeSystemScan(std::string name, Slot slot, std::string alias) {
  return std::make_unique<SystemScan>(std::move(name), slot, std::move(alias));
}

}  // namespace sluice::query
