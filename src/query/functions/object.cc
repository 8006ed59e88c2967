#include <algorithm>
#include <string>
#include <vector>

#include "json/path.h"
#include "query/functions/arguments.h"
#include "query/functions/comparison.h"
#include "query/functions/field_names.h"
#include "query/functions/function.h"

namespace sluice::query {
namespace {

using json::Field;
using json::Path;

// --- changes ---

// Whether the first two arguments are an object and a name; else `unknown` is the result.
bool ObjectAndName(Args args, Value* unknown) {
  if (args[0]->is_missing() || args[1]->is_missing()) {
    *unknown = Value();
    return false;
  }
  *unknown = nullptr;
  return args[0]->is_object() && args[1]->is_string();
}

Value Add(FunctionContext&, Args args) {
  Value result;
  if (!ObjectAndName(args, &result)) return result;
  result = *args[0];
  if (result.Find(TextOf(args, 1)) == nullptr) result.Set(TextOf(args, 1), *args[2]);
  return result;
}

Value Put(FunctionContext&, Args args) {
  Value result;
  if (!ObjectAndName(args, &result)) return result;
  result = *args[0];
  result.Set(TextOf(args, 1), *args[2]);
  return result;
}

void Merge(const Value& from, Value* into) {
  for (const Field& field : from.fields()) into->Set(field.name(), field.value);
}

Value ConcatObjects(FunctionContext&, Args args) {
  Value result = *args[0];
  for (const Value* arg : args) {
    if (!arg->is_object()) return nullptr;
    Merge(*arg, &result);
  }
  return result;
}

// Arguments from the second on may also be arrays of objects.
Value Concat2(FunctionContext&, Args args) {
  if (!args[0]->is_object()) return nullptr;
  Value result = *args[0];
  for (const Value* arg : args.subspan(1)) {
    const auto objects = arg->is_array() ? arg->items() : std::span<const Value>(arg, 1);
    for (const Value& object : objects) {
      if (!object.is_object()) return nullptr;
      Merge(object, &result);
    }
  }
  return result;
}

Value Remove(FunctionContext& context, Args args) {
  if (!args[0]->is_object() || !AllStrings(args, 1)) return nullptr;
  Value result = *args[0];
  for (size_t i = 1; i < args.size(); ++i) {
    if (!context.Spend(result.size())) return nullptr;
    result.Remove(TextOf(args, i));
  }
  return result;
}

// Keeps the field's place; another one with the new name goes.
Value Rename(FunctionContext&, Args args) {
  if (!args[0]->is_object() || !AllStrings(args, 1)) return nullptr;
  if (args[0]->Find(TextOf(args, 1)) == nullptr || TextOf(args, 1) == TextOf(args, 2)) {
    return *args[0];
  }
  std::vector<Field> fields;
  for (const Field& field : args[0]->fields()) {
    if (field.name() == TextOf(args, 1)) {
      fields.push_back({*args[2], field.value});
    } else if (field.name() != TextOf(args, 2)) {
      fields.push_back(field);
    }
  }
  return Value::ObjectOf(fields);
}

// Fields with the old value get the new one; a MISSING one removes them.
Value Replace(FunctionContext& context, Args args) {
  if (args[0]->is_missing() || args[1]->is_missing()) return Value();
  if (!args[0]->is_object() || args[1]->is_null()) return nullptr;
  std::vector<Field> fields;
  for (const Field& field : args[0]->fields()) {
    if (!context.Spend(1)) return nullptr;
    const bool old = Truth(CompareEq(*args[1], field.value));
    const Value& value = old ? *args[2] : field.value;
    if (!value.is_missing()) fields.push_back({field.key, value});
  }
  return Value::ObjectOf(fields);
}

void RemoveAt(Value* value, std::span<const json::PathStep> path) {
  Value* inside = nullptr;
  if (const auto* name = std::get_if<std::string>(&path[0])) {
    if (!value->is_object()) return;
    if (path.size() == 1) {
      value->Remove(*name);
      return;
    }
    inside = value->MutableField(*name);
  } else {
    const size_t index = json::ResolveIndex(std::get<int64_t>(path[0]), value->size());
    if (!value->is_array() || index >= value->size()) return;
    if (path.size() == 1) {
      value->RemoveAt(index);
      return;
    }
    inside = value->MutableItem(index);
  }
  if (inside != nullptr) RemoveAt(inside, path.subspan(1));
}

// OBJECT_REMOVE_FIELDS(object, path or array of paths, ...)
Value RemoveFields(FunctionContext& context, Args args) {
  if (!args[0]->is_object()) return nullptr;
  Value result = *args[0];
  for (const Value* arg : args.subspan(1)) {
    const auto paths = arg->is_array() ? arg->items() : std::span<const Value>(arg, 1);
    for (const Value& text : paths) {
      if (!text.is_string() || !context.Spend(result.size())) return nullptr;
      const auto path = Path::Parse(text.AsString());
      if (!path) {
        context.Fail(QueryError(QueryCode::kEvaluation, "OBJECT_REMOVE_FIELDS(): {}",
                                path.error().message()));
        return nullptr;
      }
      if (!path->empty()) RemoveAt(&result, path->steps());
    }
  }
  return result;
}

// --- facts ---

// Where the step at the start of the path ends: at a '.' or '[' outside of back quotes.
size_t EndOfStep(std::string_view path) {
  bool quoted = false;
  for (size_t at = 0; at < path.size(); ++at) {
    if (path[at] == '`') quoted = !quoted;
    if (at > 0 && !quoted && (path[at] == '.' || path[at] == '[')) return at;
  }
  return path.size();
}

// A path as statements have them: also `name`i, the field in any case of letters.
Value FieldAt(FunctionContext&, Args args) {
  if (!args[0]->is_object() || !args[1]->is_string()) return nullptr;
  const std::string_view whole = TextOf(args, 1);
  if (whole.find("`i") == std::string_view::npos) {
    const auto path = Path::Parse(whole);
    return path ? path->Get(*args[0]) : Value(nullptr);
  }
  const Value* value = args[0];
  for (std::string_view rest = whole; !rest.empty();) {
    std::string_view step = rest.substr(0, EndOfStep(rest));
    rest.remove_prefix(step.size());
    if (rest.starts_with('.')) rest.remove_prefix(1);
    const bool any_case = step.starts_with('`') && step.ends_with("`i");
    if (any_case) step.remove_suffix(1);
    const auto path = Path::Parse(step);
    if (!path) return nullptr;
    const auto* name =
        path->steps().empty() ? nullptr : std::get_if<std::string>(&path->steps()[0]);
    value = any_case && name != nullptr ? &FindIgnoringCase(*value, *name) : &path->Get(*value);
  }
  return *value;
}

Value Length(FunctionContext&, Args args) {
  return args[0]->is_object() ? Value(static_cast<int64_t>(args[0]->size())) : Value(nullptr);
}

// An array with what `of` makes of each field, in the order of their names.
template <typename Of>
Value EachField(const Value& object, Of of) {
  if (!object.is_object()) return nullptr;
  std::vector<Value> items;
  for (const Field* field : json::SortedFields(object)) items.push_back(of(*field));
  return Value::Array(std::move(items));
}

Value Pair(const Field& field) {
  return Value::Object({{"name", field.key}, {"val", field.value}});
}

Value Names(FunctionContext&, Args args) {
  return EachField(*args[0], [](const Field& field) { return field.key; });
}
Value Values(FunctionContext&, Args args) {
  return EachField(*args[0], [](const Field& field) { return field.value; });
}
Value Pairs(FunctionContext&, Args args) {
  if (args.size() == 1) return EachField(*args[0], Pair);
  if (!args[1]->is_object()) return nullptr;
  if (!Truth((*args[1])["types"])) return EachField(*args[0], Pair);
  return EachField(*args[0], [](const Field& field) {
    return Value::Object({{"name", field.key}, {"type", json::TypeName(field.value.type())}});
  });
}

// What OBJECT_INNER_PAIRS and OBJECT_INNER_VALUES look at: as the object of arrays that a[*] makes
// has them, arrays without their MISSING elements, and a single element instead of its array. An
// object with one field stays as it is.
Value Inner(const Value& object) {
  if (!object.is_object() || object.size() == 1) return object;
  Value result = object;
  for (const Field& field : object.fields()) {
    if (!field.value.is_array()) continue;
    std::vector<Value> known;
    for (const Value& item : field.value.items()) {
      if (!item.is_missing()) known.push_back(item);
    }
    result.Set(field.name(), known.size() == 1 ? known[0] : Value::Array(std::move(known)));
  }
  return result;
}

Value InnerPairs(FunctionContext&, Args args) { return EachField(Inner(*args[0]), Pair); }
Value InnerValues(FunctionContext&, Args args) {
  return EachField(Inner(*args[0]), [](const Field& field) { return field.value; });
}

Value TypesIn(const Value& value) {
  if (value.is_array()) {
    std::vector<Value> types;
    for (const Value& item : value.items()) types.push_back(TypesIn(item));
    return Value::Array(std::move(types));
  }
  if (!value.is_object()) return json::TypeName(value.type());
  std::vector<Field> types;
  for (const Field& field : value.fields()) types.push_back({field.key, TypesIn(field.value)});
  return Value::ObjectOf(types);
}

Value Types(FunctionContext&, Args args) {
  if (!args[0]->is_object()) return nullptr;
  std::vector<Field> types;
  for (const Field& field : args[0]->fields()) {
    types.push_back({field.key, json::TypeName(field.value.type())});
  }
  return Value::ObjectOf(types);
}

Value TypesNested(FunctionContext&, Args args) {
  return args[0]->is_object() ? TypesIn(*args[0]) : Value(nullptr);
}

Value Unwrap(FunctionContext&, Args args) {
  if (!args[0]->is_object() || args[0]->size() != 1) return nullptr;
  return args[0]->fields()[0].value;
}

constexpr ScalarFunction kObjectFunctions[] = {
    {"object_add", 3, 3, Add, Unknowns::kSeen},
    {"object_concat", 2, kAnyNumber, ConcatObjects},
    {"object_concat2", 2, kAnyNumber, Concat2},
    {"object_field", 2, 2, FieldAt},
    {"object_inner_pairs", 1, 1, InnerPairs},
    {"object_inner_values", 1, 1, InnerValues},
    {"object_length", 1, 1, Length},
    {"object_names", 1, 1, Names},
    {"object_outer_pairs", 1, 2, Pairs},
    {"object_outer_values", 1, 1, Values},
    {"object_put", 3, 3, Put, Unknowns::kSeen},
    {"object_remove", 2, kAnyNumber, Remove},
    {"object_remove_fields", 2, kAnyNumber, RemoveFields},
    {"object_rename", 3, 3, Rename},
    {"object_replace", 3, 3, Replace, Unknowns::kSeen},
    {"object_types", 1, 1, Types},
    {"object_types_nested", 1, 1, TypesNested},
    {"object_unwrap", 1, 1, Unwrap},
};

constexpr FunctionAlias kObjectAliases[] = {
    {"object_innerpairs", "object_inner_pairs"},   {"object_innervalues", "object_inner_values"},
    {"object_outerpairs", "object_outer_pairs"},   {"object_pairs", "object_outer_pairs"},
    {"object_outervalues", "object_outer_values"}, {"object_values", "object_outer_values"},
};

}  // namespace

FunctionFamily ObjectFunctions() { return {kObjectFunctions, kObjectAliases}; }

}  // namespace sluice::query
