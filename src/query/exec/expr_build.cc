#include "query/exec/expr_build.h"

#include <array>
#include <utility>

#include "query/value_size.h"

namespace sluice::query {
namespace {

// Values share their parts, so nesting one in another again and again costs little until somebody
// prints or compares the result: each array and object that holds others is measured when it is
// made.
void CheckLimits(Context& context, Value& value) {
  if ((!value.is_array() && !value.is_object()) || FitsLimits(value)) return;
  context.Fail(QueryError(QueryCode::kTooLarge, "a value would have more than {} levels or {} MiB",
                          kMaxValueDepth, kMostCountedBytes >> 20));
  value = nullptr;
}

// Calls with at most this many arguments need no memory of their own.
constexpr size_t kFewArguments = 4;

class CallExpr final : public Expr {
 public:
  CallExpr(const ScalarFunction& function, std::vector<ExprPtr> args)
      : function_(function), args_(std::move(args)) {}

  const Value& Eval(Context& context, Value& scratch) const override {
    if (args_.size() <= kFewArguments) {
      std::array<Value, kFewArguments> scratches;
      std::array<const Value*, kFewArguments> values;
      scratch = Apply(context, scratches.data(), values.data());
    } else {
      std::vector<Value> scratches(args_.size());
      std::vector<const Value*> values(args_.size());
      scratch = Apply(context, scratches.data(), values.data());
    }
    CheckLimits(context, scratch);
    return scratch;
  }

 private:
  Value Apply(Context& context, Value* scratches, const Value** values) const {
    bool missing = false;
    bool null = false;
    for (size_t i = 0; i < args_.size(); ++i) {
      values[i] = &args_[i]->Eval(context, scratches[i]);
      missing |= values[i]->is_missing();
      null |= values[i]->is_null();
    }
    if (function_.unknowns == Unknowns::kPropagate) {
      if (missing) return Value();
      if (null) return nullptr;
    }
    return function_.body(context, Args(values, args_.size()));
  }

  const ScalarFunction& function_;
  const std::vector<ExprPtr> args_;
};

class ArrayExpr final : public Expr {
 public:
  explicit ArrayExpr(std::vector<ExprPtr> items) : items_(std::move(items)) {}
  const Value& Eval(Context& context, Value& scratch) const override {
    std::vector<Value> values;
    values.reserve(items_.size());
    for (const ExprPtr& item : items_) {
      values.push_back(item->Get(context));
      if (values.back().is_missing()) values.back() = nullptr;
    }
    scratch = Value::Array(std::move(values));
    CheckLimits(context, scratch);
    return scratch;
  }

 private:
  const std::vector<ExprPtr> items_;
};

class ObjectExpr final : public Expr {
 public:
  explicit ObjectExpr(std::vector<ObjectEntry> entries) : entries_(std::move(entries)) {}
  const Value& Eval(Context& context, Value& scratch) const override {
    std::vector<json::Field> fields;
    fields.reserve(entries_.size());
    for (const ObjectEntry& entry : entries_) {
      Value name = entry.name->Get(context);
      if (!name.is_string()) {
        scratch = name.is_missing() ? Value() : Value(nullptr);
        return scratch;
      }
      Value value = entry.value->Get(context);
      if (!value.is_missing()) fields.push_back({std::move(name), std::move(value)});
    }
    scratch = Value::ObjectOf(fields);
    CheckLimits(context, scratch);
    return scratch;
  }

 private:
  const std::vector<ObjectEntry> entries_;
};

class ResultObjectExpr final : public Expr {
 public:
  explicit ResultObjectExpr(std::vector<ResultEntry> entries) : entries_(std::move(entries)) {}
  const Value& Eval(Context& context, Value& scratch) const override {
    std::vector<json::Field> fields;
    fields.reserve(entries_.size());
    for (const ResultEntry& entry : entries_) {
      Value value = entry.value->Get(context);
      if (entry.spread) {
        for (const json::Field& field : value.fields()) fields.push_back(field);
      } else if (!value.is_missing()) {
        fields.push_back({entry.name, std::move(value)});
      }
    }
    scratch = Value::ObjectOf(fields);
    CheckLimits(context, scratch);
    return scratch;
  }

 private:
  const std::vector<ResultEntry> entries_;
};

void RemovePath(Value* value, std::span<const json::PathStep> steps) {
  const auto* name = std::get_if<std::string>(&steps[0]);
  if (name == nullptr || !value->is_object()) return;
  if (steps.size() == 1) {
    value->Remove(*name);
  } else if (Value* field = value->MutableField(*name)) {
    RemovePath(field, steps.subspan(1));
  }
}

class ExcludeExpr final : public Expr {
 public:
  ExcludeExpr(ExprPtr object, std::vector<json::Path> paths)
      : object_(std::move(object)), paths_(std::move(paths)) {}
  const Value& Eval(Context& context, Value& scratch) const override {
    scratch = object_->Get(context);
    for (const json::Path& path : paths_) RemovePath(&scratch, path.steps());
    return scratch;
  }

 private:
  const ExprPtr object_;
  const std::vector<json::Path> paths_;
};

void CollectDescendants(const Value& value, std::vector<RangeItem>* items) {
  int64_t position = 0;
  for (const Value& item : value.items()) {
    items->push_back({Value(position++), item});
    CollectDescendants(item, items);
  }
  for (const json::Field& field : value.fields()) {
    items->push_back({field.key, field.value});
    CollectDescendants(field.value, items);
  }
}

class ComprehensionExpr final : public Expr {
 public:
  explicit ComprehensionExpr(ComprehensionParts parts) : parts_(std::move(parts)) {}

  const Value& Eval(Context& context, Value& scratch) const override {
    std::vector<std::vector<RangeItem>> ranges(parts_.ranges.size());
    bool missing = false;
    bool null = false;
    size_t steps = SIZE_MAX;
    for (size_t i = 0; i < ranges.size(); ++i) {
      Value source_scratch;
      const Value& source = parts_.ranges[i].source->Eval(context, source_scratch);
      missing |= source.is_missing();
      null |= !CollectRange(source, parts_.ranges[i].within, &ranges[i]);
      steps = std::min(steps, ranges[i].size());
    }
    scratch = missing ? Value() : null ? Value(nullptr) : Run(context, ranges, steps);
    CheckLimits(context, scratch);
    return scratch;
  }

 private:
  using Ranges = std::vector<std::vector<RangeItem>>;

  void SetRow(Context& context, Ranges& ranges, size_t step) const {
    for (size_t i = 0; i < ranges.size(); ++i) {
      context.slot(parts_.ranges[i].value) = std::move(ranges[i][step].value);
      if (parts_.ranges[i].name != 0) {
        context.slot(parts_.ranges[i].name) = std::move(ranges[i][step].name);
      }
    }
  }

  Value Run(Context& context, Ranges& ranges, size_t steps) const {
    std::vector<Value> items;
    std::vector<json::Field> fields;
    for (size_t step = 0; step < steps && !context.failed(); ++step) {
      SetRow(context, ranges, step);
      if (parts_.when != nullptr && !parts_.when->IsTrue(context)) continue;
      switch (parts_.kind) {
        case ComprehensionKind::kAny:
          if (parts_.body->IsTrue(context)) return true;
          break;
        case ComprehensionKind::kEvery:
        case ComprehensionKind::kAnyAndEvery:
          if (!parts_.body->IsTrue(context)) return false;
          break;
        case ComprehensionKind::kArray:
          items.push_back(parts_.body->Get(context));
          if (items.back().is_missing()) items.pop_back();
          break;
        case ComprehensionKind::kFirst:
          return parts_.body->Get(context);
        case ComprehensionKind::kObject: {
          Value name = parts_.name->Get(context);
          if (!name.is_string()) return name.is_missing() ? Value() : Value(nullptr);
          Value value = parts_.body->Get(context);
          if (!value.is_missing()) fields.push_back({std::move(name), std::move(value)});
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

bool CollectRange(const Value& source, bool within, std::vector<RangeItem>* items) {
  if (!source.is_array() && !source.is_object()) return false;
  if (within) {
    CollectDescendants(source, items);
    return true;
  }
  items->reserve(source.size());
  int64_t position = 0;
  for (const Value& item : source.items()) items->push_back({Value(position++), item});
  for (const json::Field& field : source.fields()) items->push_back({field.key, field.value});
  return true;
}

ExprPtr MakeCall(const ScalarFunction& function, std::vector<ExprPtr> args) {
  return std::make_unique<CallExpr>(function, std::move(args));
}
ExprPtr MakeArray(std::vector<ExprPtr> items) {
  return std::make_unique<ArrayExpr>(std::move(items));
}
ExprPtr MakeObject(std::vector<ObjectEntry> entries) {
  return std::make_unique<ObjectExpr>(std::move(entries));
}
ExprPtr MakeResultObject(std::vector<ResultEntry> entries) {
  return std::make_unique<ResultObjectExpr>(std::move(entries));
}
ExprPtr MakeExclude(ExprPtr object, std::vector<json::Path> paths) {
  return std::make_unique<ExcludeExpr>(std::move(object), std::move(paths));
}
ExprPtr MakeComprehension(ComprehensionParts parts) {
  return std::make_unique<ComprehensionExpr>(std::move(parts));
}

}  // namespace sluice::query
