// Functions that make arrays.

#include <algorithm>
#include <cmath>
#include <vector>

#include "json/compare.h"
#include "query/functions/arguments.h"
#include "query/functions/arithmetic.h"
#include "query/functions/comparison.h"
#include "query/functions/function.h"
#include "query/value_size.h"

namespace sluice::query {
namespace {

std::vector<Value> Copy(const Value& array) {
  const auto items = array.items();
  return {items.begin(), items.end()};
}

bool AnyMissing(Args args) {
  return std::ranges::any_of(args, [](const Value* arg) { return arg->is_missing(); });
}

// Collects what may turn out to be far more than the arguments hold.
class Collector {
 public:
  explicit Collector(FunctionContext& context) : context_(context) {}

  // False when the statement's memory does not allow more.
  bool Add(const Value& value) {
    if (values_.size() == values_.capacity()) {
      const size_t capacity = std::max<size_t>(16, values_.capacity() * 2);
      if (!context_.Allow(capacity * sizeof(Value))) return false;
      values_.reserve(capacity);
    }
    values_.push_back(value);
    return true;
  }
  Value Finish() { return Value::Array(std::move(values_)); }

 private:
  FunctionContext& context_;
  std::vector<Value> values_;
};

Value Array(FunctionContext&, Args args) {
  std::vector<Value> items;
  for (const Value* arg : args) items.push_back(*arg);
  return Value::Array(std::move(items));
}

Value Append(FunctionContext&, Args args) {
  if (AnyMissing(args)) return Value();
  if (!args[0]->is_array()) return nullptr;
  std::vector<Value> items = Copy(*args[0]);
  for (const Value* arg : args.subspan(1)) items.push_back(*arg);
  return Value::Array(std::move(items));
}

Value Prepend(FunctionContext&, Args args) {
  if (AnyMissing(args)) return Value();
  if (!args.back()->is_array()) return nullptr;
  std::vector<Value> items;
  for (const Value* arg : args.first(args.size() - 1)) items.push_back(*arg);
  const auto rest = args.back()->items();
  items.insert(items.end(), rest.begin(), rest.end());
  return Value::Array(std::move(items));
}

// Appends the values that the array does not hold.
Value Put(FunctionContext& context, Args args) {
  if (!args[0]->is_array()) return nullptr;
  std::vector<Value> items = Copy(*args[0]);
  for (const Value* arg : args.subspan(1)) {
    if (!context.Spend(args[0]->size())) return nullptr;
    if (!Truth(In(*arg, *args[0]))) items.push_back(*arg);
  }
  return Value::Array(std::move(items));
}

Value ConcatArrays(FunctionContext& context, Args args) {
  Collector all(context);
  for (const Value* arg : args) {
    if (!arg->is_array()) return nullptr;
    for (const Value& item : arg->items()) {
      if (!all.Add(item)) return nullptr;
    }
  }
  return all.Finish();
}

// A position in an array, from its end when negative. `last` is the highest allowed.
std::optional<size_t> Position(const Value& array, const Value& index, size_t last) {
  auto position = WholeNumber(index);
  if (!position) return std::nullopt;
  if (*position < 0) *position += static_cast<int64_t>(array.size());
  if (*position < 0 || *position > static_cast<int64_t>(last)) return std::nullopt;
  return static_cast<size_t>(*position);
}

Value Insert(FunctionContext&, Args args) {
  if (AnyMissing(args)) return Value();
  if (!args[0]->is_array()) return nullptr;
  const auto position = Position(*args[0], *args[1], args[0]->size());
  if (!position) return nullptr;
  std::vector<Value> items = Copy(*args[0]);
  std::vector<Value> added;
  for (const Value* arg : args.subspan(2)) added.push_back(*arg);
  items.insert(items.begin() + static_cast<ptrdiff_t>(*position), added.begin(), added.end());
  return Value::Array(std::move(items));
}

Value Remove(FunctionContext& context, Args args) {
  if (!args[0]->is_array()) return nullptr;
  std::vector<Value> items = Copy(*args[0]);
  for (const Value* arg : args.subspan(1)) {
    if (!context.Spend(items.size())) return nullptr;
    std::erase_if(items, [&](const Value& item) { return Truth(CompareEq(item, *arg)); });
  }
  return Value::Array(std::move(items));
}

// ARRAY_REPLACE(array, old, new [, most]); `same` says what is old.
template <typename Same>
Value ReplaceItems(Args args, Same same) {
  if (!args[0]->is_array()) return nullptr;
  int64_t most = std::numeric_limits<int64_t>::max();
  if (args.size() > 3) {
    const auto given = WholeNumber(*args[3]);
    if (!given) return nullptr;
    if (*given >= 0) most = *given;
  }
  std::vector<Value> items = Copy(*args[0]);
  for (Value& item : items) {
    if (most == 0) break;
    if (!same(*args[1], item)) continue;
    item = *args[2];
    --most;
  }
  return Value::Array(std::move(items));
}

Value Replace(FunctionContext&, Args args) {
  if (AnyMissing(args)) return Value();
  if (args[1]->is_null()) return nullptr;
  return ReplaceItems(args, [](const Value& a, const Value& b) { return Truth(CompareEq(a, b)); });
}

Value ReplaceEquivalent(FunctionContext&, Args args) {
  return AnyMissing(args) ? Value() : ReplaceItems(args, json::Equal);
}

Value Reverse(FunctionContext&, Args args) {
  if (!args[0]->is_array()) return nullptr;
  std::vector<Value> items = Copy(*args[0]);
  std::ranges::reverse(items);
  return Value::Array(std::move(items));
}

Value Sort(FunctionContext&, Args args) {
  if (!args[0]->is_array()) return nullptr;
  std::vector<Value> items = Copy(*args[0]);
  std::ranges::stable_sort(items, json::ValueLess());
  return Value::Array(std::move(items));
}

Value Swap(FunctionContext&, Args args) {
  if (!args[0]->is_array() || args[0]->size() == 0) return nullptr;
  const auto a = Position(*args[0], *args[1], args[0]->size() - 1);
  const auto b = Position(*args[0], *args[2], args[0]->size() - 1);
  if (!a || !b) return nullptr;
  std::vector<Value> items = Copy(*args[0]);
  items[*a].Swap(items[*b]);
  return Value::Array(std::move(items));
}

Value Move(FunctionContext&, Args args) {
  if (!args[0]->is_array() || args[0]->size() == 0) return nullptr;
  const auto from = Position(*args[0], *args[1], args[0]->size() - 1);
  const auto to = Position(*args[0], *args[2], args[0]->size() - 1);
  if (!from || !to) return nullptr;
  std::vector<Value> items = Copy(*args[0]);
  const auto at = [&](size_t position) { return items.begin() + static_cast<ptrdiff_t>(position); };
  if (*from < *to) {
    std::rotate(at(*from), at(*from + 1), at(*to + 1));
  } else {
    std::rotate(at(*to), at(*from), at(*from + 1));
  }
  return Value::Array(std::move(items));
}

// `depth` levels, or all when it is negative.
bool Flatten(const Value& array, int64_t depth, Collector* out) {
  for (const Value& item : array.items()) {
    const bool deeper = item.is_array() && depth != 0;
    if (!(deeper ? Flatten(item, depth - 1, out) : out->Add(item))) return false;
  }
  return true;
}

Value FlattenFunction(FunctionContext& context, Args args) {
  const auto depth = WholeNumber(*args[1]);
  if (!args[0]->is_array() || !depth) return nullptr;
  Collector flat(context);
  // A level deeper than any array can be is as good as all.
  const int64_t levels = *depth < 0 || *depth > json::kMaxDepth ? -1 : *depth;
  return Flatten(*args[0], levels, &flat) ? flat.Finish() : Value(nullptr);
}

Value RangeError(FunctionContext& context, std::string_view function) {
  context.Fail(
      QueryError(QueryCode::kRange, "{}() may make {} elements, not more", function, kRangeLimit));
  return nullptr;
}

// From the first number to before the second.
Value Range(FunctionContext& context, Args args) {
  const Value one = 1;
  const Value& step = args.size() > 2 ? *args[2] : one;
  if (!args[0]->is_number() || !args[1]->is_number() || !step.is_number()) return nullptr;
  const double by = step.ToDouble();
  const double distance = Subtract(*args[1], *args[0]).ToDouble();
  if (by == 0 || distance == 0 || (by > 0) != (distance > 0)) return Value::EmptyArray();
  const double count = std::ceil(distance / by);
  if (!(count <= static_cast<double>(kRangeLimit))) return RangeError(context, "ARRAY_RANGE");
  if (!context.Allow(static_cast<size_t>(count) * sizeof(Value))) return nullptr;
  std::vector<Value> items;
  Value next = *args[0];
  for (double i = 0; i < count; ++i) {
    const auto order = json::Compare(next, *args[1]);
    if (by > 0 ? order >= 0 : order <= 0) break;  // rounding has brought the end nearer
    items.push_back(next.is_double() ? NumberOf(next.AsDouble()) : next);
    next = Add(next, step);
  }
  return Value::Array(std::move(items));
}

Value Repeat(FunctionContext& context, Args args) {
  if (AnyMissing(args)) return Value();
  const auto count = WholeNumber(*args[1]);
  if (!count || *count < 0) return nullptr;
  if (*count > kRangeLimit) return RangeError(context, "ARRAY_REPEAT");
  // With what is inside, though it is shared: else a few calls would make values of any size.
  if (!context.Allow(static_cast<size_t>(*count) * ApproximateBytes(*args[0]))) return nullptr;
  return Value::Array(std::vector<Value>(static_cast<size_t>(*count), *args[0]));
}

constexpr ScalarFunction kArrayFunctions[] = {
    {"array", 0, kAnyNumber, Array, Unknowns::kSeen},
    {"array_append", 2, kAnyNumber, Append, Unknowns::kSeen},
    {"array_concat", 2, kAnyNumber, ConcatArrays},
    {"array_flatten", 2, 2, FlattenFunction},
    {"array_insert", 3, kAnyNumber, Insert, Unknowns::kSeen},
    {"array_move", 3, 3, Move},
    {"array_prepend", 2, kAnyNumber, Prepend, Unknowns::kSeen},
    {"array_put", 2, kAnyNumber, Put},
    {"array_range", 2, 3, Range},
    {"array_remove", 2, kAnyNumber, Remove},
    {"array_repeat", 2, 2, Repeat, Unknowns::kSeen},
    {"array_replace", 3, 4, Replace, Unknowns::kSeen},
    {"array_replace_equivalent", 3, 4, ReplaceEquivalent, Unknowns::kSeen},
    {"array_reverse", 1, 1, Reverse},
    {"array_sort", 1, 1, Sort},
    {"array_swap", 3, 3, Swap},
};

constexpr FunctionAlias kArrayAliases[] = {{"array_add", "array_put"},
                                           {"array_upsert", "array_put"}};

}  // namespace

FunctionFamily ArrayFunctions() { return {kArrayFunctions, kArrayAliases}; }

}  // namespace sluice::query
