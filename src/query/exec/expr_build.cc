#include "query/exec/expr_build.h"

#include <array>
#include <utility>

#include "query/exec/held_values.h"
#include "query/value_size.h"

namespace sluice::query {
namespace {

// This many bytes take about as long to read or make as a row.
constexpr size_t kBytesPerStep = 64;

// How long a function that reads its arguments once takes, in steps.
size_t WorkOf(const Value& value) {
  if (value.is_string()) return value.AsString().size() / kBytesPerStep;
  return value.is_array() || value.is_object() ? 1 + value.size() : 0;
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
    CheckSize(context, scratch);
    return scratch;
  }

 private:
  Value Apply(Context& context, Value* scratches, const Value** values) const {
    bool missing = false;
    bool null = false;
    size_t work = 0;
    HeldValues held(context);
    for (size_t i = 0; i < args_.size(); ++i) {
      values[i] = &args_[i]->Eval(context, scratches[i]);
      missing |= values[i]->is_missing();
      null |= values[i]->is_null();
      work += WorkOf(*values[i]);
      if (i + 1 < args_.size() && values[i] == &scratches[i]) held.Add(scratches[i]);
    }
    if (work > 0 && !context.Tick(work)) return nullptr;
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
    HeldValues held(context);
    std::vector<Value> values;
    values.reserve(items_.size());
    for (const ExprPtr& item : items_) {
      values.push_back(item->Get(context));
      if (!held.Add(values.back())) break;
    }
    scratch = Value::Array(std::move(values));
    CheckSize(context, scratch);
    return scratch;
  }

 private:
  const std::vector<ExprPtr> items_;
};

class ObjectExpr final : public Expr {
 public:
  explicit ObjectExpr(std::vector<ObjectEntry> entries) : entries_(std::move(entries)) {}
  const Value& Eval(Context& context, Value& scratch) const override {
    HeldValues held(context);
    std::vector<json::Field> fields;
    fields.reserve(entries_.size());
    for (const ObjectEntry& entry : entries_) {
      Value name = entry.name->Get(context);
      if (!name.is_string()) {
        scratch = name.is_missing() ? Value() : Value(nullptr);
        return scratch;
      }
      Value value = entry.value->Get(context);
      if (!held.Add(value)) break;
      if (!value.is_missing()) fields.push_back({std::move(name), std::move(value)});
    }
    scratch = Value::ObjectOf(fields);
    CheckSize(context, scratch);
    return scratch;
  }

 private:
  const std::vector<ObjectEntry> entries_;
};

class ResultObjectExpr final : public Expr {
 public:
  explicit ResultObjectExpr(std::vector<ResultEntry> entries) : entries_(std::move(entries)) {}
  const Value& Eval(Context& context, Value& scratch) const override {
    HeldValues held(context);
    std::vector<json::Field> fields;
    fields.reserve(entries_.size());
    for (const ResultEntry& entry : entries_) {
      Value value = entry.value->Get(context);
      if (!held.Add(value)) break;
      if (entry.spread) {
        for (const json::Field& field : value.fields()) fields.push_back(field);
      } else if (!value.is_missing()) {
        fields.push_back({entry.name, std::move(value)});
      }
    }
    scratch = Value::ObjectOf(fields);
    CheckSize(context, scratch);
    return scratch;
  }

 private:
  const std::vector<ResultEntry> entries_;
};

}  // namespace

void CheckSize(Context& context, Value& value) {
  if (!value.is_array() && !value.is_object()) return;
  size_t bytes = 0;
  const bool fits = FitsLimits(value, &bytes);
  context.Tick(bytes / kBytesPerStep);
  if (fits) return;
  context.Fail(QueryError(QueryCode::kTooLarge, "a value would have more than {} levels or {} MiB",
                          kMaxValueDepth, kMostCountedBytes >> 20));
  value = nullptr;
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

}  // namespace sluice::query
