// Object functions that look at fields however deep, and choose them by patterns (name_pattern.h).
// A field is named by its path: a.b[0].c, with back quotes around names that hold a blank, a tab, a
// dot or a back quote.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "query/functions/function.h"
#include "query/functions/name_pattern.h"
#include "query/value_size.h"

namespace sluice::query {
namespace {

using json::Field;

// What the options of OBJECT_PATHS, OBJECT_PAIRS_NESTED and OBJECT_FILTER say:
//   composites      also name arrays and objects, not only what is in them
//   arraysubscript  false: elements are not told apart, [*] instead of [0]
//   index           names for index definitions: all in back quotes, [] for elements; no composites
//   patternspace    "field": the pattern is tried on each step of the path, else on the whole
struct Choice {
  NamePattern pattern;
  bool by_step = false;
  bool composites = true;
  bool subscripts = true;
  bool for_index = false;

  bool Read(FunctionContext& context, const Value& options) {
    if (options["composites"].is_bool()) composites = options["composites"].AsBool();
    subscripts = !OptionIs(options, "arraysubscript", false);
    const Value& space = options["patternspace"];
    by_step = space.is_string() && space.AsString() == "field";
    for_index = OptionIs(options, "index", true);
    if (for_index) composites = subscripts = false;
    return pattern.Set(context, options);
  }

  bool Matches(std::string_view path) const {
    if (!by_step) return pattern.Matches(path);
    bool quoted = false;
    size_t start = 0;
    for (size_t i = 0; i < path.size(); ++i) {
      if (path[i] == '`') quoted = !quoted;
      if (path[i] != '.' || quoted) continue;
      if (pattern.Matches(path.substr(start, i - start))) return true;
      start = i + 1;
    }
    return start < path.size() && pattern.Matches(path.substr(start));
  }
};

std::string StepName(std::string_view name, bool always_quote) {
  if (!always_quote && name.find_first_of(" \t.`") == std::string_view::npos) {
    return std::string(name);
  }
  std::string quoted = "`";
  for (const char c : name) c == '`' ? quoted += "\\u0060" : quoted += c;
  return quoted + "`";
}

// Where a walk is: the path so far, and whether it went through an element that it did not name, so
// that the next step has to say [*].
struct Place {
  std::string path;
  bool in_element = false;
};

Place FieldPlace(const Place& from, std::string_view name, const Choice& choice) {
  std::string path = from.path;
  if (!path.empty()) {
    if (from.in_element) path += choice.for_index ? "[]" : "[*]";
    path += '.';
  }
  return {path + StepName(name, choice.for_index), from.in_element};
}

Place ElementPlace(const Place& from, size_t index, const Choice& choice) {
  if (!choice.subscripts) return {from.path, true};
  return {fmt::format("{}[{}]", from.path, index), from.in_element};
}

bool IsComposite(const Value& value) { return value.is_array() || value.is_object(); }

// --- OBJECT_PATHS ---

void CollectPaths(const Value& value, const Place& place, const Choice& choice,
                  std::vector<std::string>* paths) {
  if (!IsComposite(value) && !choice.composites && choice.Matches(place.path)) {
    paths->push_back(place.path);
  }
  const auto items = value.items();
  for (size_t i = 0; i < items.size(); ++i) {
    CollectPaths(items[i], ElementPlace(place, i, choice), choice, paths);
  }
  for (const Field& field : value.fields()) {
    const Place inside = FieldPlace(place, field.name(), choice);
    if (choice.composites && choice.Matches(inside.path)) paths->push_back(inside.path);
    CollectPaths(field.value, inside, choice, paths);
  }
}

// The options, if they are given; false when the result is then NULL.
bool ReadChoice(FunctionContext& context, Args args, Choice* choice) {
  if (!IsComposite(*args[0]) || !context.Allow(ApproximateBytes(*args[0]))) return false;
  if (args.size() == 1) return true;
  return args[1]->is_object() && choice->Read(context, *args[1]);
}

Value Paths(FunctionContext& context, Args args) {
  Choice choice;
  if (!ReadChoice(context, args, &choice)) return nullptr;
  std::vector<std::string> paths;
  CollectPaths(*args[0], {}, choice, &paths);
  std::ranges::sort(paths);
  if (args.size() == 1 || !OptionIs(*args[1], "unique", false)) {
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  }
  return Value::Array(std::vector<Value>(paths.begin(), paths.end()));
}

// --- OBJECT_PAIRS_NESTED ---

struct NestedPair {
  std::string name;
  const Value* value;
};

class PairCollector {
 public:
  PairCollector(const Choice& choice, bool names_only, std::vector<NestedPair>* pairs)
      : choice_(choice), names_only_(names_only), pairs_(pairs) {}

  // `name` is the last step of the path, with an element's position.
  void Walk(const Value& value, const std::string& path, const std::string& name) {
    if (!path.empty() && (choice_.composites || !IsComposite(value)) && choice_.Matches(path)) {
      pairs_->push_back({names_only_ ? name : path, &value});
    }
    const auto items = value.items();
    for (size_t i = 0; i < items.size(); ++i) {
      const std::string position = choice_.for_index ? "[]" : fmt::format("[{}]", i);
      Walk(items[i], path + position, name + position);
    }
    for (const Field& field : value.fields()) {
      const std::string step = StepName(field.name(), choice_.for_index);
      Walk(field.value, path.empty() ? step : path + "." + step, std::string(field.name()));
    }
  }

 private:
  const Choice& choice_;
  const bool names_only_;
  std::vector<NestedPair>* const pairs_;
};

Value PairsNested(FunctionContext& context, Args args) {
  Choice choice{.composites = false};
  if (!ReadChoice(context, args, &choice)) return nullptr;
  const Value options = args.size() > 1 ? *args[1] : Value::EmptyObject();
  const bool names_only = options["report"].is_string() && options["report"].AsString() == "field";
  std::vector<NestedPair> pairs;
  PairCollector(choice, names_only, &pairs).Walk(*args[0], "", "");
  std::ranges::stable_sort(pairs, {}, &NestedPair::name);
  const bool types = OptionIs(options, "types", true) && !choice.for_index;
  std::vector<Value> result;
  for (const auto& [name, value] : pairs) {
    result.push_back(types ? Value::Object({{"name", name}, {"type", TypeName(value->type())}})
                           : Value::Object({{"name", name}, {"val", *value}}));
  }
  return Value::Array(std::move(result));
}

// --- OBJECT_FILTER ---

// What is left of the value, MISSING for nothing.
Value KeepChosen(const Value& value, const Place& place, const Choice& choice) {
  if (!IsComposite(value)) {
    return !choice.composites && choice.Matches(place.path) ? value : Value();
  }
  const auto items = value.items();
  std::vector<Value> kept_items;
  for (size_t i = 0; i < items.size(); ++i) {
    Value kept = KeepChosen(items[i], ElementPlace(place, i, choice), choice);
    if (!kept.is_missing()) kept_items.push_back(std::move(kept));
  }
  std::vector<Field> kept_fields;
  for (const Field& field : value.fields()) {
    const Place inside = FieldPlace(place, field.name(), choice);
    Value kept = choice.composites && choice.Matches(inside.path)
                     ? field.value
                     : KeepChosen(field.value, inside, choice);
    if (!kept.is_missing()) kept_fields.push_back({field.key, std::move(kept)});
  }
  if (kept_items.empty() && kept_fields.empty()) return Value();
  return value.is_array() ? Value::Array(std::move(kept_items)) : Value::ObjectOf(kept_fields);
}

Value FilterFunction(FunctionContext& context, Args args) {
  Choice choice;
  if (!ReadChoice(context, args, &choice)) return nullptr;
  choice.for_index = false;
  Value kept = KeepChosen(*args[0], {}, choice);
  return kept.is_missing() ? Value(nullptr) : kept;
}

// --- OBJECT_EXTRACT ---

// Name and value of the fields from `min` to before `max`, or whose names match `pattern`.
Value Extract(FunctionContext& context, Args args) {
  if (!args[0]->is_object() || (args.size() > 1 && !args[1]->is_object())) return nullptr;
  const Value options = args.size() > 1 ? *args[1] : Value::EmptyObject();
  const Value& min = options["min"];
  const Value& max = options["max"];
  NamePattern pattern;
  if (!min.is_string() && !max.is_string() && !pattern.Set(context, options)) return nullptr;
  std::vector<Value> pairs;
  for (const Field* field : json::SortedFields(*args[0])) {
    if (min.is_string() && field->name() < min.AsString()) continue;
    if (max.is_string() && !max.AsString().empty() && field->name() >= max.AsString()) continue;
    if (!pattern.Matches(field->name())) continue;
    pairs.push_back(Value::Object({{"name", field->key}, {"val", field->value}}));
  }
  return Value::Array(std::move(pairs));
}

constexpr ScalarFunction kObjectNestedFunctions[] = {
    {"object_extract", 1, 2, Extract},
    {"object_filter", 1, 2, FilterFunction},
    {"object_pairs_nested", 1, 2, PairsNested},
    {"object_paths", 1, 2, Paths},
};

}  // namespace

FunctionFamily ObjectNestedFunctions() { return {kObjectNestedFunctions, {}}; }

}  // namespace sluice::query
