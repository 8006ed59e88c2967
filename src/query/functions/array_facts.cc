// Functions that say something about arrays, or compare several as sets.

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "json/compare.h"
#include "query/functions/aggregate.h"
#include "query/functions/arguments.h"
#include "query/functions/comparison.h"
#include "query/functions/function.h"

namespace sluice::query {
namespace {

using ValueSet = std::unordered_set<Value, json::ValueHash>;

Value Length(FunctionContext&, Args args) {
  return args[0]->is_array() ? Value(static_cast<int64_t>(args[0]->size())) : Value(nullptr);
}

// What the aggregate function of the same name makes of the elements.
Value Aggregate(FunctionContext& context, const Value& array, std::string_view name) {
  if (!array.is_array()) return nullptr;
  const auto accumulator = FindAggregate(name)->make();
  for (const Value& item : array.items()) accumulator->Add(item);
  return accumulator->Finish(context);
}

Value Average(FunctionContext& context, Args args) { return Aggregate(context, *args[0], "avg"); }
Value Count(FunctionContext& context, Args args) { return Aggregate(context, *args[0], "count"); }
Value Max(FunctionContext& context, Args args) { return Aggregate(context, *args[0], "max"); }
Value Min(FunctionContext& context, Args args) { return Aggregate(context, *args[0], "min"); }

Value Sum(FunctionContext& context, Args args) {
  if (!args[0]->is_array()) return nullptr;
  Value sum = Aggregate(context, *args[0], "sum");
  return sum.is_null() ? Value(0) : sum;
}

Value FirstKnownElement(FunctionContext&, Args args) {
  if (!args[0]->is_array()) return nullptr;
  const auto items = args[0]->items();
  const auto found = std::ranges::find_if(items, IsKnown);
  return found == items.end() ? Value(nullptr) : *found;
}

bool AllowAll(FunctionContext& context, Args args) {
  constexpr size_t kPerElement = 64;  // in a hash table
  size_t count = 0;
  for (const Value* arg : args) count += arg->size();
  return context.Allow(count * kPerElement);
}

bool Holds(const Value& array, const Value& value) { return Truth(In(value, array)); }

// The same for many values in one array.
class Holder {
 public:
  Holder(const Value& array, size_t values) : array_(array) {
    constexpr size_t kFew = 1024;  // comparisons
    if (values <= 1 || array.size() * values <= kFew) return;
    set_.emplace(array.items().begin(), array.items().end());
  }
  bool Holds(const Value& value) const {
    if (!set_) return query::Truth(In(value, array_));
    // What equals in the set's order may hold a NULL, which equals nothing here.
    const auto found = set_->find(value);
    return found != set_->end() && Truth(CompareEq(value, *found));
  }

 private:
  const Value& array_;
  std::optional<ValueSet> set_;
};

Value Contains(FunctionContext&, Args args) {
  return args[0]->is_array() ? Value(Holds(*args[0], *args[1])) : Value(nullptr);
}

// The second argument's elements, or itself when it is no array.
std::span<const Value> Wanted(const Value& value) {
  return value.is_array() ? value.items() : std::span<const Value>(&value, 1);
}

Value ContainsAll(FunctionContext& context, Args args) {
  if (!args[0]->is_array() || !AllowAll(context, args)) return nullptr;
  const Holder holder(*args[0], Wanted(*args[1]).size());
  return std::ranges::all_of(Wanted(*args[1]),
                             [&](const Value& value) { return holder.Holds(value); });
}

Value ContainsAny(FunctionContext& context, Args args) {
  if (!args[0]->is_array() || !AllowAll(context, args)) return nullptr;
  const Holder holder(*args[0], Wanted(*args[1]).size());
  return std::ranges::any_of(Wanted(*args[1]),
                             [&](const Value& value) { return holder.Holds(value); });
}

Value PositionOf(FunctionContext&, Args args) {
  if (!args[0]->is_array()) return nullptr;
  const auto items = args[0]->items();
  for (size_t i = 0; i < items.size(); ++i) {
    if (Truth(CompareEq(*args[1], items[i]))) return static_cast<int64_t>(i);
  }
  return -1;
}

// The first of equal elements of a sorted array. NULL can be looked for.
Value BinarySearch(FunctionContext&, Args args) {
  if (args[0]->is_missing() || args[1]->is_missing()) return Value();
  if (!args[0]->is_array()) return nullptr;
  const auto items = args[0]->items();
  const auto found = std::ranges::lower_bound(items, *args[1], json::ValueLess());
  if (found == items.end() || !json::Equal(*found, *args[1])) return -1;
  return static_cast<int64_t>(found - items.begin());
}

// --- sets, in the order in which the elements first appear; NULL equals NULL ---

bool AllArrays(Args args) {
  return std::ranges::all_of(args, [](const Value* arg) { return arg->is_array(); });
}

Value Union(FunctionContext& context, Args args) {
  if (!AllArrays(args) || !AllowAll(context, args)) return nullptr;
  ValueSet seen;
  std::vector<Value> distinct;
  for (const Value* arg : args) {
    for (const Value& item : arg->items()) {
      if (seen.insert(item).second) distinct.push_back(item);
    }
  }
  return Value::Array(std::move(distinct));
}

// The elements for which `wanted` is true of the number of arrays that hold them.
template <typename Wanted>
Value ByOccurrence(FunctionContext& context, Args args, Wanted wanted) {
  if (!AllArrays(args) || !AllowAll(context, args)) return nullptr;
  struct Seen {
    size_t arrays = 0;
    size_t last = 0;  // the array it was last seen in, from 1
  };
  std::unordered_map<Value, Seen, json::ValueHash> seen;
  std::vector<Value> distinct;
  for (size_t i = 0; i < args.size(); ++i) {
    for (const Value& item : args[i]->items()) {
      const auto [at, is_new] = seen.try_emplace(item);
      if (is_new) distinct.push_back(item);
      if (at->second.last == i + 1) continue;
      at->second.last = i + 1;
      ++at->second.arrays;
    }
  }
  std::erase_if(distinct, [&](const Value& item) { return !wanted(seen.at(item).arrays); });
  return Value::Array(std::move(distinct));
}

Value Intersect(FunctionContext& context, Args args) {
  return ByOccurrence(context, args, [&](size_t arrays) { return arrays == args.size(); });
}
Value InOnlyOne(FunctionContext& context, Args args) {
  return ByOccurrence(context, args, [](size_t arrays) { return arrays == 1; });
}
Value InOddNumber(FunctionContext& context, Args args) {
  return ByOccurrence(context, args, [](size_t arrays) { return arrays % 2 == 1; });
}

// What is in the first and not in the second; keeps what is there twice.
Value Except(FunctionContext& context, Args args) {
  if (!AllArrays(args) || !AllowAll(context, args)) return nullptr;
  const ValueSet excluded(args[1]->items().begin(), args[1]->items().end());
  std::vector<Value> rest;
  for (const Value& item : args[0]->items()) {
    if (!excluded.contains(item)) rest.push_back(item);
  }
  return Value::Array(std::move(rest));
}

constexpr ScalarFunction kArrayFactsFunctions[] = {
    {"array_avg", 1, 1, Average},
    {"array_binary_search", 2, 2, BinarySearch, Unknowns::kSeen},
    {"array_contains", 2, 2, Contains},
    {"array_contains_all", 2, 2, ContainsAll},
    {"array_contains_any", 2, 2, ContainsAny},
    {"array_count", 1, 1, Count},
    {"array_distinct", 1, 1, Union},
    {"array_except", 2, 2, Except},
    {"array_ifnull", 1, 1, FirstKnownElement},
    {"array_intersect", 2, kAnyNumber, Intersect},
    {"array_length", 1, 1, Length},
    {"array_max", 1, 1, Max},
    {"array_min", 1, 1, Min},
    {"array_position", 2, 2, PositionOf},
    {"array_sum", 1, 1, Sum},
    {"array_symdiff", 2, kAnyNumber, InOnlyOne},
    {"array_symdiffn", 2, kAnyNumber, InOddNumber},
    {"array_union", 2, kAnyNumber, Union},
};

constexpr FunctionAlias kArrayFactsAliases[] = {
    {"array_pos", "array_position"},
    {"array_symdiff1", "array_symdiff"},
};

}  // namespace

FunctionFamily ArrayFactFunctions() { return {kArrayFactsFunctions, kArrayFactsAliases}; }

}  // namespace sluice::query
