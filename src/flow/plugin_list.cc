// Lists and maps: ends, sets, and the reshaping of what JSONPath finds.
#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

#include "flow/plugin.h"
#include "flow/text_form.h"

namespace sluice::flow {
namespace {

using json::Field;
using json::Value;

Result<Value> IsEmptyList(const PluginInput& input) {
  const Value& value = input.args[0];
  if (value.is_missing() || value.is_null()) return Value(true);
  if (value.is_string()) return Value(value.AsString().empty());
  if (value.is_bytes()) return Value(value.AsBytes().empty());
  return Value((value.is_array() || value.is_object()) && value.size() == 0);
}

Result<Value> First(const PluginInput& input) { return input.args[0][size_t{0}]; }

Result<Value> Last(const PluginInput& input) {
  const Value& list = input.args[0];
  if (!list.is_array() || list.size() == 0) return Value();
  return list[list.size() - 1];
}

struct ByHash {
  size_t operator()(const Value& value) const { return value.Hash(); }
};

Result<Value> UniqueSet(const PluginInput& input) {
  std::unordered_set<Value, ByHash> seen;
  Value set = Value::EmptyArray();
  const auto add = [&](const Value& value) {
    if (seen.insert(value).second) set.Append(value);
  };
  for (const Value& value : input.args) {
    if (value.is_array()) {
      for (const Value& item : value.items()) add(item);
    } else if (!value.is_missing() && !value.is_null()) {
      add(value);
    }
  }
  return set;
}

// The nearest map that has a list in it, looking into its first maps.
const Value* MapOfLists(const Value& value, int depth = 0) {
  if (!value.is_object() || depth > json::kMaxDepth) return nullptr;
  for (const Field& field : value.fields()) {
    if (field.value.is_array()) return &value;
    if (field.value.is_object()) return MapOfLists(field.value, depth + 1);
  }
  return nullptr;
}

// Row i gets field i of every list. Nothing when the lists differ in length.
std::optional<Value> AddColumns(std::optional<Value> rows, std::span<const Value> maps) {
  std::vector<Value> made;
  bool sized = rows.has_value();
  if (rows) made.assign(rows->items().begin(), rows->items().end());
  for (const Value& each : maps) {
    const Value* columns = MapOfLists(each);
    if (columns == nullptr) continue;
    for (const Field& field : columns->fields()) {
      if (!field.value.is_array()) continue;
      if (!sized) made.assign(field.value.size(), Value::EmptyObject());
      sized = true;
      if (made.size() != field.value.size()) return std::nullopt;
      for (size_t i = 0; i < made.size(); ++i) {
        if (!made[i].is_object()) return std::nullopt;
        made[i].Set(field.name(), field.value[i]);
      }
    }
  }
  return Value::Array(std::move(made));
}

Result<Value> ListOfMap(const PluginInput& input) {
  return AddColumns(std::nullopt, input.args).value_or(Value::EmptyArray());
}

Result<Value> UpdateListOfMap(const PluginInput& input) {
  if (!input.args[0].is_array()) return BadArgument("updateListOfMap", "a list is expected first");
  return AddColumns(input.args[0], input.args.subspan(1)).value_or(Value::EmptyArray());
}

Value WithoutKeys(Value map, std::span<const Value> keys) {
  for (const Value& key : keys) map.Remove(TextOf(key));
  return map;
}

Result<Value> RemoveKey(const PluginInput& input) {
  const Value& source = input.args[0];
  const auto keys = input.args.subspan(1);
  if (source.is_object()) return WithoutKeys(source, keys);
  if (!source.is_array()) return source;
  Value list = Value::EmptyArray();
  for (const Value& item : source.items()) {
    list.Append(item.is_object() ? WithoutKeys(item, keys) : item);
  }
  return list;
}

constexpr Plugin kListPlugins[] = {
    {"isEmpty", 1, 1, IsEmptyList},
    {"getFirst", 1, 1, First},
    {"getLast", 1, 1, Last},
    {"uniqueSet", 1, kManyArguments, UniqueSet},
    {"listOfMap", 1, kManyArguments, ListOfMap},
    {"updateListOfMap", 2, kManyArguments, UpdateListOfMap},
    {"removeKey", 2, kManyArguments, RemoveKey},
};

}  // namespace

std::span<const Plugin> ListPlugins() { return kListPlugins; }

}  // namespace sluice::flow
