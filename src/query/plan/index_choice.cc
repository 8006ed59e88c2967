// How well one index fits the conditions on a document.
//
// Match walks over the parts of the index from the first. A part with an equality (= or IN) lets
// the next part be used, too; a part with a range, or with IS VALUED or IS NOT MISSING, is the last
// that counts. An index whose first part no condition uses is of no help.
//
// An index may be used only if it surely has all documents that the conditions want:
// 1. Its WHERE must be among the conditions, term by term (HoldsWhere).
// 2. A document whose first part is MISSING has no row, unless the part includes missing values.
//    Each predicate that is found here is false or unknown for MISSING, so such documents are not
//    wanted.
//
// Expressions are compared by their bound form (SameExpression), never by their text. Expressions
// that the predicates need and that the statement does not have are owned by `made_`.
#include "query/plan/index_choice.h"

#include <algorithm>
#include <utility>

#include "query/bind/walk.h"
#include "query/functions/table.h"

namespace sluice::query {
namespace {

using Kind = PartPredicate::Kind;

// `e` with one variable for another.
ExpressionPtr Renamed(const Expression& e, VariableId from, VariableId to) {
  ExpressionPtr copy = Clone(e);
  WalkDeep(copy, [&](ExpressionPtr& each) {
    if (each->kind == ExprKind::kVariable && each->variable == from) each->variable = to;
    return true;
  });
  return copy;
}

ExpressionPtr MakeNumber(int64_t number) {
  auto literal = std::make_unique<Expression>();
  literal->value = json::Value(number);
  return literal;
}

bool IsTypedColumn(const Expression& e) {
  return e.kind == ExprKind::kCall && e.name == kColumnValueFunction;
}

// An index has the stored form of a typed column's values, which may be less precise than the value
// that it is compared with. So the range is inclusive and never exact: it finds all rows that may
// match, and the filter decides.
PartPredicate OfTypedColumn(const Expression& column, PartPredicate predicate,
                            std::vector<ExpressionPtr>* made) {
  const auto use = predicate.kind == Kind::kEqual ? StoredValueUse::kEqual
                   : predicate.kind == Kind::kIn  ? StoredValueUse::kAnyOf
                   : predicate.kind == Kind::kLow ? StoredValueUse::kLow
                                                  : StoredValueUse::kHigh;
  auto stored = std::make_unique<Expression>();
  stored->kind = ExprKind::kCall;
  stored->place = predicate.value->place;
  stored->name = kStoredValueFunction;
  stored->args.push_back(Clone(*predicate.value));
  stored->args.push_back(Clone(*column.args[1]));
  stored->args.push_back(MakeNumber(static_cast<int64_t>(use)));
  predicate.value = stored.get();
  predicate.inclusive = true;
  predicate.exact = PartPredicate::Exact::kNo;
  made->push_back(std::move(stored));
  return predicate;
}

}  // namespace

// Every term of the index's condition must be among ours.
bool IndexMatcher::HoldsWhere(const Expression* where) const {
  return std::ranges::all_of(SplitConditions(where), [&](const Condition& needed) {
    return std::ranges::any_of(conditions_, [&](const Condition& condition) {
      return SameExpression(*condition.expression, *needed.expression);
    });
  });
}

std::vector<IndexMatcher::Found> IndexMatcher::PredicatesOf(const BoundIndexKey& key) const {
  std::vector<Found> found;
  for (size_t i = 0; i < conditions_.size(); ++i) {
    const Expression& condition = *conditions_[i].expression;
    const auto is_part = [&](const Expression& e) { return SameExpression(e, *key.expression); };
    const std::vector<PartPredicate> predicates =
        key.each_element ? MatchElements(condition, *key.expression)
                         : MatchPart(condition, is_part, document_, made_);
    // Each ANY may hold for another element, so two of them can't share a range: the condition with
    // the most predicates counts alone.
    if (key.each_element && predicates.size() <= found.size()) continue;
    if (key.each_element) found.clear();
    for (const PartPredicate& predicate : predicates) {
      const bool typed = !key.each_element && IsTypedColumn(*key.expression);
      // IS VALUED and IS NOT MISSING have no value to convert to the stored form.
      if (typed && !predicate.compares()) continue;
      found.push_back(
          {.predicate = typed ? OfTypedColumn(*key.expression, predicate, made_) : predicate,
           .condition = i});
    }
  }
  return found;
}

// The predicates of a condition on the elements of an array, for an index with a row for each
// element: `x IN array`, or ANY v IN array SATISFIES ... END. They are never exact: the filter
// checks the condition.
std::vector<PartPredicate> IndexMatcher::MatchElements(const Expression& condition,
                                                       const Expression& array) const {
  std::vector<PartPredicate> found;
  if (condition.kind == ExprKind::kCall && condition.name == "in" &&
      SameExpression(*condition.args[1], array) &&
      !std::ranges::binary_search(ReferencedVariables(*condition.args[0]), document_) &&
      !HasSubquery(*condition.args[0])) {
    found.push_back({.kind = Kind::kEqual, .value = condition.args[0].get()});
    return found;
  }
  const bool any = condition.kind == ExprKind::kAny || condition.kind == ExprKind::kAnyAndEvery;
  if (!any || condition.comprehension->bindings.size() != 1) return found;
  // ANY v IN source SATISFIES body END, with one range: the body's conditions on v are conditions
  // on the elements.
  const RangeBinding& range = condition.comprehension->bindings[0];
  // The index has the elements themselves, or something made of each.
  const Expression* source = &array;
  ExpressionPtr element;
  std::vector<Condition> needed;
  if (array.kind == ExprKind::kArrayFor) {
    const Comprehension& made = *array.comprehension;
    if (made.bindings.size() != 1 || made.bindings[0].within != range.within) return found;
    source = made.bindings[0].source.get();
    element = Renamed(*made.body, made.bindings[0].value_id, range.value_id);
    if (made.when != nullptr) {
      made_->push_back(Renamed(*made.when, made.bindings[0].value_id, range.value_id));
      needed = SplitConditions(made_->back().get());
    }
  } else if (range.within) {
    return found;
  } else {
    element = std::make_unique<Expression>();
    element->kind = ExprKind::kVariable;
    element->variable = range.value_id;
  }
  if (!SameExpression(*source, *range.source)) return found;
  const std::vector<Condition> terms = SplitConditions(condition.comprehension->body.get());
  // ARRAY ... WHEN of the index leaves elements out, so the body must require the same.
  for (const Condition& each : needed) {
    if (std::ranges::none_of(terms, [&](const Condition& term) {
          return SameExpression(*term.expression, *each.expression);
        })) {
      return found;
    }
  }
  const auto is_element = [&](const Expression& e) { return SameExpression(e, *element); };
  for (const Condition& term : terms) {
    for (PartPredicate predicate : MatchPart(*term.expression, is_element, document_, made_)) {
      if (!predicate.compares()) continue;
      // The value must not come from the element either.
      if (std::ranges::binary_search(ReferencedVariables(*predicate.value), range.value_id)) {
        continue;
      }
      predicate.exact = PartPredicate::Exact::kNo;
      found.push_back(predicate);
    }
  }
  return found;
}

void IndexMatch::Answer(size_t condition, PartPredicate::Exact exact) {
  answered[condition] = exact == PartPredicate::Exact::kYes;
  answered_if_scalar[condition] = exact != PartPredicate::Exact::kNo;
}

// Adds the predicates of the next part. True if the part after it may be used, too.
bool IndexMatcher::TakePart(const std::vector<Found>& found, IndexMatch* match) const {
  // = is narrower than IN, so it is preferred, whatever the order of the conditions.
  for (const Kind kind : {Kind::kEqual, Kind::kIn}) {
    for (const Found& each : found) {
      if (each.predicate.kind != kind) continue;
      match->equal.push_back(each.predicate);
      match->used[each.condition] = true;
      match->Answer(each.condition, each.predicate.exact);
      return true;
    }
  }
  // BETWEEN is answered when both of its ends are used.
  std::vector<int> ends(conditions_.size(), 0);
  for (const Found& each : found) ends[each.condition] += 1;
  for (const Found& each : found) {
    if (!each.predicate.compares()) continue;
    auto& bound = each.predicate.kind == Kind::kLow ? match->low : match->high;
    // The first bound of each side is taken; others stay in the filter.
    if (bound) continue;
    bound = each.predicate;
    match->used[each.condition] = true;
    if (--ends[each.condition] == 0) match->Answer(each.condition, each.predicate.exact);
  }
  TakeFloor(found, match);
  return false;
}

// A range with bounds never has NULL or MISSING, so IS VALUED and IS NOT MISSING are then answered.
// Without bounds they are a range themselves; the narrower one, IS VALUED, is taken.
void IndexMatcher::TakeFloor(const std::vector<Found>& found, IndexMatch* match) {
  const bool bounded = match->low || match->high;
  for (const Kind kind : {Kind::kValued, Kind::kPresent}) {
    for (const Found& each : found) {
      if (each.predicate.kind != kind) continue;
      if (!bounded && !match->floor) match->floor = each.predicate;
      match->used[each.condition] = true;
      match->Answer(each.condition, each.predicate.exact);
    }
  }
}

// The index covers the statement if it has every path that the statement uses of the document. An
// array index never does: it has elements, not the document's value. Each part sets the slots of
// its paths directly.
void IndexMatcher::Cover(const BoundIndex& bound, IndexMatch* match) const {
  const SourceLayout& source = *layout_.FindSource(document_);
  if (source.whole || source.uses_meta || match->array) return;
  match->covered.resize(bound.keys.size());
  for (size_t i = 0; i < bound.keys.size(); ++i) match->covered[i].part = i;
  for (const PathGroup& group : source.groups) {
    for (const PathSlot& path : group.paths) {
      bool found = false;
      for (size_t i = 0; i < bound.keys.size() && !found; ++i) {
        const auto key = AsVariablePath(*bound.keys[i].expression);
        if (!key || key->variable != document_ || !(key->path == path.path)) continue;
        match->covered[i].slots.push_back(path.slot);
        found = true;
      }
      if (!found) return;
    }
  }
  std::erase_if(match->covered, [](const CoveredPart& part) { return part.slots.empty(); });
  match->covering = true;
}

// Rows come in the wanted order if ORDER BY names the parts after the equal ones, in their order,
// all in the index's direction or all against it (then the scan runs backwards). IN makes several
// ranges, whose rows are not in one order. NULLS FIRST or LAST, and a direction from a parameter,
// are left to a sort.
void IndexMatcher::CheckOrder(const BoundIndex& bound, IndexMatch* match) const {
  if (wanted_order_ == nullptr || wanted_order_->empty() || match->array) return;
  for (const PartPredicate& equal : match->equal) {
    if (equal.kind != Kind::kEqual) return;
  }
  size_t part = match->equal.size();
  const auto& parts = match->index->definition().parts;
  std::optional<bool> reverse;
  for (const SortTerm& term : *wanted_order_) {
    // A part that is equal for all rows does not affect the order.
    const bool fixed = std::ranges::any_of(
        bound.keys.begin(), bound.keys.begin() + static_cast<ptrdiff_t>(match->equal.size()),
        [&](const BoundIndexKey& key) {
          return SameExpression(*key.expression, *term.expression);
        });
    if (fixed) continue;
    if (part >= bound.keys.size() || term.direction != nullptr ||
        term.nulls != SortTerm::Nulls::kDefault ||
        !SameExpression(*bound.keys[part].expression, *term.expression)) {
      return;
    }
    const bool turned = parts[part].descending != term.descending;
    if (reverse && *reverse != turned) return;
    reverse = turned;
    ++part;
  }
  match->sorted = true;
  match->reverse = reverse.value_or(false);
}

std::optional<IndexMatch> IndexMatcher::Match(const BoundIndex& bound) const {
  if (!HoldsWhere(bound.where.get())) return std::nullopt;
  IndexMatch match;
  match.index = bound.index;
  match.used.assign(conditions_.size(), false);
  match.answered.assign(conditions_.size(), false);
  match.answered_if_scalar.assign(conditions_.size(), false);
  for (const BoundIndexKey& key : bound.keys) {
    if (!TakePart(PredicatesOf(key), &match)) break;
  }
  if (match.parts_used() == 0) return std::nullopt;
  // Any array part, also an unused one, gives a document several rows.
  for (const BoundIndexKey& key : bound.keys) match.array |= key.each_element;
  // The index's own condition holds for all of its rows.
  for (const Condition& own : SplitConditions(bound.where.get())) {
    for (size_t i = 0; i < conditions_.size(); ++i) {
      if (!SameExpression(*conditions_[i].expression, *own.expression)) continue;
      match.Answer(i, PartPredicate::Exact::kYes);
    }
  }
  Cover(bound, &match);
  CheckOrder(bound, &match);
  return match;
}

}  // namespace sluice::query
