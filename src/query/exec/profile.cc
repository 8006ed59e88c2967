#include "query/exec/profile.h"

#include <utility>

#include "query/functions/duration.h"

namespace sluice::query {
namespace {

// A field of the explained plan, which Show replaces by the counts.
constexpr std::string_view kNumber = "#number";

class Profiled final : public PlanNode {
 public:
  Profiled(PlanPtr plan, size_t number) : plan_(std::move(plan)), number_(number) {}
  std::unique_ptr<Operator> Start() const override {
    return std::make_unique<Run>(plan_->Start(), number_);
  }
  std::optional<ScannedSource> Splittable() const override { return plan_->Splittable(); }
  Value Explain() const override {
    Value node = plan_->Explain();
    node.Set(kNumber, Value(static_cast<int64_t>(number_)));
    return node;
  }

 private:
  class Run final : public Operator {
   public:
    Run(std::unique_ptr<Operator> rows, size_t number) : rows_(std::move(rows)), number_(number) {}

    void Open(Context& context) override {
      Profile::Counts& counts = (*context.options().profile)[number_];
      const uint64_t begin = context.options().clock->MonotonicNs();
      rows_->Open(context);
      counts.ns.fetch_add(context.options().clock->MonotonicNs() - begin,
                          std::memory_order_relaxed);
      counts.opened.fetch_add(1, std::memory_order_relaxed);
    }
    bool Next(Context& context) override {
      Profile::Counts& counts = (*context.options().profile)[number_];
      const uint64_t begin = context.options().clock->MonotonicNs();
      const bool found = rows_->Next(context);
      counts.ns.fetch_add(context.options().clock->MonotonicNs() - begin,
                          std::memory_order_relaxed);
      if (found) counts.rows.fetch_add(1, std::memory_order_relaxed);
      return found;
    }

   private:
    const std::unique_ptr<Operator> rows_;
    const size_t number_;
  };

  const PlanPtr plan_;
  const size_t number_;
};

}  // namespace

Value Profile::Show(const PlanNode& root) const {
  uint64_t ns = 0;
  return Show(root.Explain(), &ns);
}

// Adds the time of the operators at the top of this part of the plan to `inclusive_ns`.
Value Profile::Show(const Value& node, uint64_t* inclusive_ns) const {
  if (node.is_array()) {
    Value items = Value::EmptyArray();
    for (const Value& item : node.items()) items.Append(Show(item, inclusive_ns));
    return items;
  }
  if (!node.is_object()) return node;
  uint64_t inputs_ns = 0;
  Value shown = Value::EmptyObject();
  for (const json::Field& field : node.fields()) {
    if (field.name() != kNumber) shown.Set(field.name(), Show(field.value, &inputs_ns));
  }
  const Value& number = node[kNumber];
  if (number.is_missing()) {
    *inclusive_ns += inputs_ns;
    return shown;
  }
  const Counts& counts = operators_[static_cast<size_t>(number.AsInt())];
  const uint64_t ns = counts.ns.load();
  *inclusive_ns += ns;
  Value stats = Value::Object({{"#itemsOut", Value::Unsigned(counts.rows.load())}});
  if (counts.opened.load() > 1) stats.Set("#opens", Value::Unsigned(counts.opened.load()));
  const auto own = static_cast<int64_t>(ns > inputs_ns ? ns - inputs_ns : 0);
  stats.Set("execTime", Value(PrintDuration(own, DurationStyle::kLegacy)));
  shown.Set("#stats", std::move(stats));
  return shown;
}

PlanPtr MakeProfiled(PlanPtr plan, size_t number) {
  return std::make_unique<Profiled>(std::move(plan), number);
}

}  // namespace sluice::query
