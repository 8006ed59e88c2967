#include "cli/yaml_visitor.h"

#include <algorithm>

#include "base/nearest.h"

namespace sluice::cli {

void YamlVisitor::AddProblem(uint32_t line, uint32_t column, const std::string& message) {
  problems_->push_back(
      Error(Code::kInvalidArgument, "app.invalid", "{}", message).At({file_, line, column}));
}

void YamlVisitor::ForEach(const yaml::Node& node, const std::string& what,
                          std::initializer_list<std::string> known, const Visitor& visit) {
  if (node.is_null()) return;
  if (!node.is_map()) {
    AddProblem(node.line, node.column,
               fmt::format("{}: expected a map, found {}", what, yaml::KindName(node.kind)));
    return;
  }
  const std::vector<std::string> names(known);
  for (const yaml::Entry& entry : node.entries) {
    if (names.empty() || std::ranges::count(names, entry.key) > 0) {
      visit(entry);
    } else {
      AddProblem(
          entry.line, entry.column,
          fmt::format("{}: unknown key '{}'{}", what, entry.key, DidYouMean(entry.key, names)));
    }
  }
}

void YamlVisitor::ReadBool(const yaml::Entry& entry, bool* value) {
  if (entry.value.text == "true" || entry.value.text == "false") {
    *value = entry.value.text == "true";
  } else {
    AddProblem(entry.value.line, entry.value.column,
               fmt::format("{}: expected true or false, found '{}'", entry.key, entry.value.text));
  }
}

std::string YamlVisitor::ReadText(const yaml::Entry& entry) {
  if (entry.value.is_scalar()) return entry.value.text;
  AddProblem(
      entry.line, entry.column,
      fmt::format("{}: expected a text, found {}", entry.key, yaml::KindName(entry.value.kind)));
  return "";
}

}  // namespace sluice::cli
