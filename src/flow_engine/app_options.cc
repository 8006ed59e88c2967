#include "flow_engine/app_options.h"

#include "flow/source_tree.h"
#include "flow/yaml_value.h"

namespace sluice::flow_engine {
namespace {

using json::Value;

constexpr std::string_view kFlow = "flow://";

class Reader {
 public:
  Reader(const std::string& file, const flow::Settings& settings,
         const std::function<bool(std::string_view)>& has_target, flow::Problems* problems)
      : file_(file), settings_(settings), has_target_(has_target), problems_(problems) {}

  std::vector<Autostart> ReadAutostart(const yaml::Node* list) {
    std::vector<Autostart> made;
    if (!IsList(list, "autostart", "flows and routes such as ['flow://warm-up']")) return made;
    for (const yaml::Node& item : list->items) {
      Autostart start{.target = "", .input = Value::EmptyObject()};
      if (item.is_scalar()) {
        start.target = TextOf(item);
        CheckTarget(item, start.target);
      } else if (!ReadEntry(item, &start)) {
        continue;
      }
      made.push_back(std::move(start));
    }
    return made;
  }

  std::vector<std::string> ReadListeners(const yaml::Node* list) {
    std::vector<std::string> made;
    if (!IsList(list, "listeners", "routes such as ['audit.run']")) return made;
    for (const yaml::Node& item : list->items) {
      made.push_back(TextOf(item));
      CheckTarget(item, made.back());
    }
    return made;
  }

 private:
  void Wrong(const yaml::Node& node, const std::string& message,
             std::string_view id = "route.invalid_options") {
    problems_->AddError(Error(Code::kInvalidArgument, std::string(id), "{}", message)
                            .At({file_, node.line, node.column}));
  }

  bool IsList(const yaml::Node* list, std::string_view key, std::string_view expected) {
    if (flow::IsEmpty(list)) return false;
    if (list->is_list()) return true;
    Wrong(*list, fmt::format("{}: expected a list of {}", key, expected));
    return false;
  }

  // {flow: id, input: {...}} or {route: name, input: ...}
  bool ReadEntry(const yaml::Node& item, Autostart* start) {
    const yaml::Node* target = nullptr;
    for (const yaml::Entry& entry : item.entries) {
      if (entry.key == "input") {
        start->input = Filled(flow::ValueOf(entry.value), entry.value);
      } else if ((entry.key == "flow" || entry.key == "route") && target == nullptr) {
        target = &entry.value;
        start->target = (entry.key == "flow" ? std::string(kFlow) : "") + TextOf(entry.value);
      } else {
        Wrong(entry.value, "autostart: expected flow or route, and input, got '" + entry.key + "'");
        return false;
      }
    }
    if (target == nullptr) {
      Wrong(item, "autostart: expected flow or route, and input");
      return false;
    }
    if (!start->flow().empty() && !start->input.is_object()) {
      Wrong(item, "autostart: the input of a flow is a map such as {body: ...}");
    }
    CheckTarget(*target, start->target);
    return true;
  }

  void CheckTarget(const yaml::Node& node, const std::string& target) {
    if (has_target_(target)) return;
    const bool is_flow = target.starts_with(kFlow);
    Wrong(node,
          is_flow ? fmt::format("there is no flow '{}'", target.substr(kFlow.size()))
                  : fmt::format("there is no route '{}'; a flow is flow://id", target),
          "route.unknown");
  }

  std::string TextOf(const yaml::Node& node) {
    return flow::ReplaceVariables(node.text, {file_, node.line, node.column}, settings_, problems_);
  }

  // With ${NAME:default} replaced in its texts.
  Value Filled(const Value& value, const yaml::Node& node) {
    if (value.is_string()) {
      return Value(flow::ReplaceVariables(value.AsString(), {file_, node.line, node.column},
                                          settings_, problems_));
    }
    if (value.is_array()) {
      Value list = Value::EmptyArray();
      for (const Value& item : value.items()) list.Append(Filled(item, node));
      return list;
    }
    if (!value.is_object()) return value;
    Value map = Value::EmptyObject();
    for (const json::Field& field : value.fields()) {
      map.Set(field.name(), Filled(field.value, node));
    }
    return map;
  }

  const std::string& file_;
  const flow::Settings& settings_;
  const std::function<bool(std::string_view)>& has_target_;
  flow::Problems* const problems_;
};

}  // namespace

std::string Autostart::flow() const {
  return target.starts_with(kFlow) ? target.substr(kFlow.size()) : "";
}

AppOptions ReadAppOptions(const yaml::Node& config, const std::string& file,
                          const flow::Settings& settings,
                          const std::function<bool(std::string_view target)>& has_target,
                          flow::Problems* problems) {
  Reader reader(file, settings, has_target, problems);
  return {.autostart = reader.ReadAutostart(config.Find("autostart")),
          .listeners = reader.ReadListeners(config.Find("listeners"))};
}

}  // namespace sluice::flow_engine
