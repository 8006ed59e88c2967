#include "doctype/tree.h"

#include "json/number.h"
#include "json/print.h"

namespace sluice::doctype {

yaml::Node NodeOf(const json::Value& value) {
  yaml::Node node;
  node.line = 0;
  node.column = 0;
  if (value.is_array()) {
    node.kind = yaml::Node::Kind::kList;
    for (const json::Value& item : value.items()) node.items.push_back(NodeOf(item));
  } else if (value.is_object()) {
    node.kind = yaml::Node::Kind::kMap;
    for (const json::Field& field : value.fields()) {
      node.entries.push_back({std::string(field.name()), 0, 0, NodeOf(field.value)});
    }
  } else if (!value.is_null() && !value.is_missing()) {
    node.kind = yaml::Node::Kind::kScalar;
    node.quoted = value.is_string();
    node.text = value.is_string() ? std::string(value.AsString()) : json::ToText(value);
  }
  return node;
}

json::Value ValueOf(const yaml::Node& node) {
  switch (node.kind) {
    case yaml::Node::Kind::kNull:
      return nullptr;
    case yaml::Node::Kind::kList: {
      std::vector<json::Value> items;
      for (const yaml::Node& item : node.items) items.push_back(ValueOf(item));
      return json::Value::Array(std::move(items));
    }
    case yaml::Node::Kind::kMap: {
      json::Value object = json::Value::EmptyObject();
      for (const yaml::Entry& entry : node.entries) object.Set(entry.key, ValueOf(entry.value));
      return object;
    }
    case yaml::Node::Kind::kScalar:
      break;
  }
  if (node.quoted) return node.text;
  if (node.text == "true" || node.text == "false") return node.text == "true";
  if (node.text == "null" || node.text == "~") return nullptr;
  if (!node.text.empty() && json::NumberLength(node.text) == node.text.size()) {
    return json::NumberFromLiteral(node.text);
  }
  return node.text;
}

}  // namespace sluice::doctype
