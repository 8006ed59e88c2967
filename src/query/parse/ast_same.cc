// Variables of a comprehension are the same when they are bound at the same place, whatever the
// binder numbered them and, once it has, whatever they are called.
#include <algorithm>
#include <utility>

#include "query/parse/ast.h"

namespace sluice::query {
namespace {

class Matcher {
 public:
  bool Same(const Expression& a, const Expression& b) {
    if (a.kind != b.kind) return false;
    if (a.kind == ExprKind::kVariable) return SameVariable(a.variable, b.variable);
    if (a.name != b.name || a.ignore_case != b.ignore_case || !(a.value == b.value)) return false;
    if (a.kind == ExprKind::kCall && !SameCall(a, b)) return false;
    if (a.kind == ExprKind::kSubquery) return ToText(*a.query) == ToText(*b.query);
    return Same(a.args, b.args) && Same(a.comprehension.get(), b.comprehension.get());
  }

 private:
  bool SameVariable(VariableId a, VariableId b) const {
    return a == b || std::ranges::find(renamed_, std::pair(a, b)) != renamed_.end();
  }

  bool Same(const ExpressionPtr& a, const ExpressionPtr& b) {
    return a && b ? Same(*a, *b) : a == b;
  }

  bool Same(const std::vector<ExpressionPtr>& a, const std::vector<ExpressionPtr>& b) {
    return std::ranges::equal(
        a, b, [&](const ExpressionPtr& x, const ExpressionPtr& y) { return Same(x, y); });
  }

  bool SameCall(const Expression& a, const Expression& b) {
    return a.distinct == b.distinct && a.ignore_nulls == b.ignore_nulls &&
           a.from_last == b.from_last && Same(a.filter, b.filter) &&
           Same(a.window.get(), b.window.get());
  }

  bool Same(const WindowSpec* a, const WindowSpec* b) {
    if (a == nullptr || b == nullptr) return a == b;
    const auto same_term = [&](const SortTerm& x, const SortTerm& y) {
      return x.descending == y.descending && x.nulls == y.nulls &&
             Same(x.expression, y.expression) && Same(x.direction, y.direction);
    };
    return a->base == b->base && Same(a->partition_by, b->partition_by) &&
           std::ranges::equal(a->order_by, b->order_by, same_term) && Same(a->frame, b->frame);
  }

  bool Same(const std::optional<WindowFrame>& a, const std::optional<WindowFrame>& b) {
    if (!a || !b) return a.has_value() == b.has_value();
    return a->unit == b->unit && a->start == b->start && a->end == b->end &&
           a->exclude == b->exclude && Same(a->start_offset, b->start_offset) &&
           Same(a->end_offset, b->end_offset);
  }

  bool Same(const Comprehension* a, const Comprehension* b) {
    if (a == nullptr || b == nullptr) return a == b;
    const size_t outer = renamed_.size();
    const bool same = std::ranges::equal(a->bindings, b->bindings,
                                         [&](const RangeBinding& x, const RangeBinding& y) {
                                           return SameBinding(x, y);
                                         }) &&
                      Same(a->name, b->name) && Same(a->body, b->body) && Same(a->when, b->when);
    renamed_.resize(outer);
    return same;
  }

  bool SameBinding(const RangeBinding& a, const RangeBinding& b) {
    if (a.within != b.within || a.name.empty() != b.name.empty()) return false;
    const bool bound = a.value_id != 0 && b.value_id != 0;
    if (!bound && (a.name != b.name || a.value != b.value)) return false;
    if (!Same(a.source, b.source)) return false;
    renamed_.emplace_back(a.value_id, b.value_id);
    if (!a.name.empty()) renamed_.emplace_back(a.name_id, b.name_id);
    return true;
  }

  std::vector<std::pair<VariableId, VariableId>> renamed_;
};

}  // namespace

bool SameExpression(const Expression& a, const Expression& b) { return Matcher().Same(a, b); }

}  // namespace sluice::query
