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

// An index has the stored forms of a typed column's values, which may be less precise than what
// they are compared with: it finds what may fit.
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
    // Each ANY is about an element of its own: of an array only one condition counts.
    if (key.each_element && predicates.size() <= found.size()) continue;
    if (key.each_element) found.clear();
    for (const PartPredicate& predicate : predicates) {
      const bool typed = !key.each_element && IsTypedColumn(*key.expression);
      if (typed && !predicate.compares()) continue;
      found.push_back(
          {.predicate = typed ? OfTypedColumn(*key.expression, predicate, made_) : predicate,
           .condition = i});
    }
  }
  return found;
}

// What a condition says of the elements of an array that an index has a row for each of: `x IN
// array`, or ANY v IN array SATISFIES ... END. What it finds is never all of the condition.
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

// Adds what was found about the next part. True when the part after it may be used, too.
bool IndexMatcher::TakePart(const std::vector<Found>& found, IndexMatch* match) const {
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
    if (bound) continue;
    bound = each.predicate;
    match->used[each.condition] = true;
    if (--ends[each.condition] == 0) match->Answer(each.condition, each.predicate.exact);
  }
  TakeFloor(found, match);
  return false;
}

// NULL and MISSING are never between bounds. Without bounds a part that is said to be there has a
// range of its own: the narrower one of those that are asked for.
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

void IndexMatcher::CheckOrder(const BoundIndex& bound, IndexMatch* match) const {
  if (wanted_order_ == nullptr || wanted_order_->empty() || match->array) return;
  for (const PartPredicate& equal : match->equal) {
    if (equal.kind != Kind::kEqual) return;
  }
  size_t part = match->equal.size();
  const auto& parts = match->index->definition().parts;
  std::optional<bool> reverse;
  for (const SortTerm& term : *wanted_order_) {
    // What is equal for all rows sorts nothing.
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
