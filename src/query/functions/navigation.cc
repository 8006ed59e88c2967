#include "query/functions/navigation.h"

#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "query/functions/arithmetic.h"

namespace sluice::query {
namespace {

using json::Field;

// A position from the start; may be outside of the array.
std::optional<int64_t> Position(const Value& array, const Value& index) {
  const auto position = WholeNumber(index);
  if (!position || *position >= 0) return position;
  return *position + static_cast<int64_t>(array.size());
}

Value ElementFunction(FunctionContext&, Args args) { return ElementOf(*args[0], *args[1]); }
Value FieldFunction(FunctionContext&, Args args) { return FieldOf(*args[0], *args[1]); }

Value SliceFunction(FunctionContext&, Args args) {
  return SliceOf(*args[0], args.size() > 1 ? args[1] : nullptr,
                 args.size() > 2 ? args[2] : nullptr);
}

Value ArrayStarFunction(FunctionContext& context, Args args) {
  return ArrayStarOf(context, *args[0]);
}

Value RandomElement(FunctionContext& context, Args args) {
  if (!args[0]->is_array() || args[0]->size() == 0) return nullptr;
  return (*args[0])[context.Random() % args[0]->size()];
}

constexpr ScalarFunction kNavigationFunctions[] = {
    {"element", 2, 2, ElementFunction, Unknowns::kSeen},
    {"field", 2, 2, FieldFunction, Unknowns::kSeen},
    {"slice", 1, 3, SliceFunction, Unknowns::kSeen},
    {"array_star", 1, 1, ArrayStarFunction},
    {"random_element", 1, 1, RandomElement, Unknowns::kPropagate, Volatility::kVolatile},
};

}  // namespace

Value FieldOf(const Value& object, const Value& name) {
  if (object.is_missing() || name.is_missing()) return Value();
  if (object.is_null() || !name.is_string()) return nullptr;
  return object[name.AsString()];
}

Value ElementOf(const Value& array, const Value& index) {
  if (array.is_missing() || index.is_missing()) return Value();
  const auto position = Position(array, index);
  if (array.is_null() || !position) return nullptr;
  if (*position < 0 || *position >= static_cast<int64_t>(array.size())) return Value();
  return array[*position];
}

Value SliceOf(const Value& array, const Value* start, const Value* end) {
  const auto is_missing = [](const Value* value) {
    return value != nullptr && value->is_missing();
  };
  if (array.is_missing() || is_missing(start) || is_missing(end)) return Value();
  if (!array.is_array()) return nullptr;
  if (start == nullptr && end == nullptr) return array;
  const auto size = static_cast<int64_t>(array.size());
  const auto from = start == nullptr ? 0 : Position(array, *start);
  const auto to = end == nullptr ? size : Position(array, *end);
  if (!from || !to) return nullptr;
  if (*from < 0 || *from > *to || *to > size) return Value();
  if (end == nullptr && *from == size) return Value();
  const auto items = array.items();
  return Value::Array({items.begin() + *from, items.begin() + *to});
}

Value ArrayStarOf(FunctionContext& context, const Value& array) {
  if (array.is_missing()) return Value();
  if (!array.is_array()) return nullptr;
  std::vector<std::string_view> names;
  std::unordered_set<std::string_view> known;
  for (const Value& item : array.items()) {
    for (const Field& field : item.fields()) {
      if (known.insert(field.name()).second) names.push_back(field.name());
    }
  }
  if (!context.Allow(names.size() * (array.size() + 2) * sizeof(Value))) return nullptr;
  std::vector<Field> fields;
  for (const std::string_view name : names) {
    std::vector<Value> column;
    column.reserve(array.size());
    for (const Value& item : array.items()) column.push_back(item[name]);
    fields.push_back({Value(name), Value::Array(std::move(column))});
  }
  return Value::ObjectOf(fields);
}

FunctionFamily NavigationFunctions() { return {kNavigationFunctions, {}}; }

}  // namespace sluice::query
