// EXCLUDE: the fields of a result that are left out.
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "json/path.h"
#include "query/error.h"
#include "query/exec/expr_build.h"

namespace sluice::query {
namespace {

using Steps = std::span<const json::PathStep>;

void RemovePath(Value* value, Steps steps) {
  if (steps.empty()) return;
  Value* inside = nullptr;
  if (const auto* name = std::get_if<std::string>(&steps[0])) {
    if (!value->is_object()) return;
    if (steps.size() == 1) {
      value->Remove(*name);
      return;
    }
    inside = value->MutableField(*name);
  } else {
    const size_t at = json::ResolveIndex(std::get<int64_t>(steps[0]), value->size());
    if (!value->is_array() || at >= value->size()) return;
    if (steps.size() == 1) {
      value->RemoveAt(at);
      return;
    }
    inside = value->MutableItem(at);
  }
  if (inside != nullptr) RemovePath(inside, steps.subspan(1));
}

class ExcludeExpr final : public Expr {
 public:
  explicit ExcludeExpr(ExcludeParts parts) : parts_(std::move(parts)) {}
  const Value& Eval(Context& context, Value& scratch) const override {
    scratch = parts_.object->Get(context);
    for (const auto& path : parts_.paths) Remove(&scratch, path);
    for (const ExprPtr& names : parts_.names) RemoveNamed(context, names->Get(context), &scratch);
    return scratch;
  }

 private:
  void Remove(Value* object, Steps path) const {
    RemovePath(object, path);
    const auto* first = std::get_if<std::string>(&path[0]);
    if (first == nullptr) return;
    if (!parts_.star.empty() && *first != parts_.star) {
      Value* document = object->MutableField(parts_.star);
      if (document != nullptr) RemovePath(document, path);
    }
    if (std::ranges::find(parts_.spread, *first) != parts_.spread.end()) {
      RemovePath(object, path.subspan(1));
    }
  }

  // "a, b.c" or ["a", "b.c"]. Any other value excludes nothing.
  void RemoveNamed(Context& context, const Value& names, Value* object) const {
    for (const Value& item : names.items()) RemoveNamed(context, item, object);
    if (!names.is_string()) return;
    std::string_view rest = names.AsString();
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find(','), rest.size());
      std::string_view name = rest.substr(0, comma);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
      while (name.starts_with(' ')) name.remove_prefix(1);
      while (name.ends_with(' ')) name.remove_suffix(1);
      const auto path = json::Path::Parse(name);
      if (!path) {
        context.Fail(
            QueryError(QueryCode::kEvaluation, "EXCLUDE '{}': {}", name, path.error().message()));
        return;
      }
      if (!path->empty()) Remove(object, path->steps());
    }
  }

  const ExcludeParts parts_;
};

}  // namespace

ExprPtr MakeExclude(ExcludeParts parts) { return std::make_unique<ExcludeExpr>(std::move(parts)); }

}  // namespace sluice::query
