// ANY, EVERY, FIRST, ARRAY and OBJECT over ranges. Each step counts as a row (Context::Tick), so
// that a statement can be stopped in the middle of one.
#include <algorithm>
#include <utility>

#include "query/exec/expr_build.h"
#include "query/exec/held_values.h"

namespace sluice::query {
namespace {

// One range, while it is walked over.
class RangeWalk {
 public:
  // The value that the range walks over. It can't walk over MISSING or a value that is neither
  // array nor object.
  const Value& Open(Context& context, const RangeExpr& range, HeldValues* held) {
    range_ = &range;
    Value made;
    source_ = range.source->Eval(context, made);
    if (!made.is_missing()) held->Add(source_);  // else it lives elsewhere
    if (range.within) CollectInside(context, source_, held, &inside_);
    return source_;
  }
  size_t steps() const { return range_->within ? inside_.size() : source_.size(); }
  void Set(Context& context, size_t step) const {
    if (range_->within) {
      SetBoth(context, inside_[step].name, inside_[step].value);
    } else if (source_.is_array()) {
      SetBoth(context, Value(static_cast<int64_t>(step)), source_.items()[step]);
    } else {
      const json::Field& field = source_.fields()[step];
      SetBoth(context, field.key, field.value);
    }
  }

 private:
  void SetBoth(Context& context, const Value& name, const Value& value) const {
    context.slot(range_->value) = value;
    if (range_->name != 0) context.slot(range_->name) = name;
  }

  const RangeExpr* range_ = nullptr;
  Value source_;
  std::vector<RangeItem> inside_;  // of WITHIN
};

class ComprehensionExpr final : public Expr {
 public:
  explicit ComprehensionExpr(ComprehensionParts parts) : parts_(std::move(parts)) {}

  const Value& Eval(Context& context, Value& scratch) const override {
    HeldValues held(context);
    std::vector<RangeWalk> ranges(parts_.ranges.size());
    bool missing = false;
    bool null = false;
    size_t steps = SIZE_MAX;
    for (size_t i = 0; i < ranges.size(); ++i) {
      const Value& source = ranges[i].Open(context, parts_.ranges[i], &held);
      missing |= source.is_missing();
      null |= !source.is_array() && !source.is_object();
      steps = std::min(steps, ranges[i].steps());
    }
    if (missing || null) {
      scratch = missing ? Value() : Value(nullptr);
    } else {
      scratch = Run(context, ranges, steps, &held);
      CheckSize(context, scratch);
    }
    return scratch;
  }

 private:
  Value Run(Context& context, const std::vector<RangeWalk>& ranges, size_t steps,
            HeldValues* held) const {
    std::vector<Value> items;
    std::vector<json::Field> fields;
    for (size_t step = 0; step < steps && context.Tick(); ++step) {
      for (const RangeWalk& range : ranges) range.Set(context, step);
      if (parts_.when != nullptr && !parts_.when->IsTrue(context)) continue;
      switch (parts_.kind) {
        case ComprehensionKind::kAny:
          if (parts_.body->IsTrue(context)) return true;
          break;
        case ComprehensionKind::kEvery:
        case ComprehensionKind::kAnyAndEvery:
          if (!parts_.body->IsTrue(context)) return false;
          break;
        case ComprehensionKind::kArray: {
          Value item = parts_.body->Get(context);
          if (item.is_missing()) break;
          held->Add(item);
          items.push_back(std::move(item));
          break;
        }
        case ComprehensionKind::kFirst:
          return parts_.body->Get(context);
        case ComprehensionKind::kObject: {
          Value name = parts_.name->Get(context);
          if (!name.is_string()) return name.is_missing() ? Value() : Value(nullptr);
          Value value = parts_.body->Get(context);
          if (value.is_missing()) break;
          held->Add(name);
          held->Add(value);
          fields.push_back({std::move(name), std::move(value)});
          break;
        }
      }
    }
    return AtEnd(steps, std::move(items), fields);
  }

  Value AtEnd(size_t steps, std::vector<Value> items, std::vector<json::Field>& fields) const {
    switch (parts_.kind) {
      case ComprehensionKind::kAny:
        return false;
      case ComprehensionKind::kEvery:
        return true;
      case ComprehensionKind::kAnyAndEvery:
        return steps > 0;
      case ComprehensionKind::kArray:
        return Value::Array(std::move(items));
      case ComprehensionKind::kFirst:
        return Value();
      case ComprehensionKind::kObject:
        return Value::ObjectOf(fields);
    }
    return Value();
  }

  const ComprehensionParts parts_;
};

}  // namespace

void CollectInside(Context& context, const Value& value, HeldValues* held,
                   std::vector<RangeItem>* items) {
  const auto add = [&](Value name, const Value& inside) {
    if (!context.Tick() || !held->AddBytes(2 * sizeof(RangeItem))) return;
    items->push_back({std::move(name), inside});
    CollectInside(context, inside, held, items);
  };
  int64_t position = 0;
  for (const Value& item : value.items()) {
    add(Value(position++), item);
    if (context.failed()) return;
  }
  for (const json::Field& field : value.fields()) {
    add(field.key, field.value);
    if (context.failed()) return;
  }
}

ExprPtr MakeComprehension(ComprehensionParts parts) {
  return std::make_unique<ComprehensionExpr>(std::move(parts));
}

}  // namespace sluice::query
