#include "flow/yaml_value.h"

#include "json/number.h"

namespace sluice::flow {
namespace {

json::Value ScalarOf(const yaml::Node& node) {
  if (node.quoted) return json::Value(node.text);
  if (node.text == "true" || node.text == "false") return json::Value(node.text == "true");
  if (!node.text.empty() && json::NumberLength(node.text) == node.text.size()) {
    return json::NumberFromLiteral(node.text);
  }
  return json::Value(node.text);
}

}  // namespace

json::Value ValueOf(const yaml::Node& node) {
  if (node.is_scalar()) return ScalarOf(node);
  if (node.is_list()) {
    json::Value list = json::Value::EmptyArray();
    for (const yaml::Node& item : node.items) list.Append(ValueOf(item));
    return list;
  }
  if (!node.is_map()) return json::Value(nullptr);
  json::Value map = json::Value::EmptyObject();
  for (const yaml::Entry& entry : node.entries) map.Set(entry.key, ValueOf(entry.value));
  return map;
}

}  // namespace sluice::flow
