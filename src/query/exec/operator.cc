#include "query/exec/operator.h"

namespace sluice::query {

Value Explained(std::string_view name, std::vector<std::pair<std::string_view, Value>> details,
                const PlanNode* input) {
  Value node = Value::Object({{"operator", Value(name)}});
  for (auto& [key, value] : details) {
    if (!value.is_missing()) node.Set(key, std::move(value));
  }
  if (input != nullptr) node.Set("input", input->Explain());
  return node;
}

}  // namespace sluice::query
