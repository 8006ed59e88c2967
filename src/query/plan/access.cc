// How one keyspace is read. In this order of preference:
//
//   ByHint   USE KEYS
//   ByKeys   META().id = e, or META().id IN e: a read of single documents
//   ByIndex  access_index.cc
//   ByScan   all documents in key order, bounded where conditions compare META().id
//
// Invariant: a choice never loses a document for which the conditions hold. A range may find too
// many; then the condition stays in the filter. Only a predicate whose `exact` says that the range
// and the condition are equivalent removes its condition from the filter (IndexMatch::answered).
#include "query/plan/access.h"

#include <algorithm>
#include <utility>

#include "query/error.h"
#include "query/functions/like.h"

namespace sluice::query {
namespace {

bool IsCall(const Expression& expression, std::string_view name) {
  return expression.kind == ExprKind::kCall && expression.name == name;
}

// A constant for which a range is exactly the condition: it equals itself and holds no NULL or
// MISSING inside, as an array could.
bool IsScalar(const Expression& value) {
  if (value.kind != ExprKind::kLiteral) return false;
  const json::Type type = value.value.type();
  return type == json::Type::kBool || type == json::Type::kInt || type == json::Type::kDouble ||
         type == json::Type::kString;
}

using Exact = PartPredicate::Exact;

// A value that is the same for all rows of a scan may turn out to be a scalar when it opens.
Exact ExactnessOf(const Expression& value) {
  if (IsScalar(value)) return Exact::kYes;
  return value.kind == ExprKind::kParameter || AsVariablePath(value) ? Exact::kIfScalar
                                                                     : Exact::kNo;
}

// LIKE 'abc%' is a range: from "abc" up to the first value after all strings with this prefix.
void MatchLike(const Expression& pattern, std::vector<ExpressionPtr>* made,
               std::vector<PartPredicate>* found) {
  if (pattern.kind != ExprKind::kLiteral || !pattern.value.is_string()) return;
  const auto like = LikePattern::Parse(pattern.value.AsString());
  if (!like || like->prefix().empty()) return;
  const auto literal = [&](json::Value value) {
    made->push_back(std::make_unique<Expression>());
    made->back()->value = std::move(value);
    return made->back().get();
  };
  using Kind = PartPredicate::Kind;
  found->push_back({.kind = Kind::kLow, .value = literal(json::Value(like->prefix()))});
  found->push_back({.kind = Kind::kHigh,
                    .inclusive = false,
                    .value = literal(StopOf(like->prefix(), like->exact()))});
}

}  // namespace

// The parser writes `a > b` as lt(b, a) and `a >= b` as le(b, a), so two calls cover all
// comparisons.
std::vector<PartPredicate> MatchPart(const Expression& condition, const PartMatcher& is_part,
                                     VariableId document, std::vector<ExpressionPtr>* made) {
  // The other side must not use the document itself, or the value would not be known before the
  // read. A subquery could be known, but would be evaluated for each opening of the scan.
  const auto known = [&](const Expression& value) {
    return !std::ranges::binary_search(ReferencedVariables(value), document) && !HasSubquery(value);
  };
  using Kind = PartPredicate::Kind;
  std::vector<PartPredicate> found;
  const auto add = [&](Kind kind, const Expression& value, bool inclusive) {
    found.push_back({.kind = kind,
                     .inclusive = inclusive,
                     .value = &value,
                     // The list of an IN may hold NULL or MISSING, which equal nothing.
                     .exact = kind == Kind::kIn ? Exact::kNo : ExactnessOf(value)});
  };
  const auto compare = [&](const Expression& left, const Expression& right, bool inclusive) {
    if (is_part(left) && known(right)) add(Kind::kHigh, right, inclusive);
    if (is_part(right) && known(left)) add(Kind::kLow, left, inclusive);
  };
  const auto& args = condition.args;
  if (IsCall(condition, "eq")) {
    if (is_part(*args[0]) && known(*args[1])) {
      add(Kind::kEqual, *args[1], true);
    } else if (is_part(*args[1]) && known(*args[0])) {
      add(Kind::kEqual, *args[0], true);
    }
  } else if (IsCall(condition, "lt")) {
    compare(*args[0], *args[1], false);
  } else if (IsCall(condition, "le")) {
    compare(*args[0], *args[1], true);
  } else if (IsCall(condition, "between") && args.size() == 3) {
    compare(*args[1], *args[0], true);
    compare(*args[0], *args[2], true);
    // BETWEEN is one condition with two predicates: it is answered only by both together.
    const Exact both = found.size() == 2 ? std::min(found[0].exact, found[1].exact) : Exact::kNo;
    for (PartPredicate& predicate : found) predicate.exact = both;
  } else if (IsCall(condition, "in") && is_part(*args[0]) && known(*args[1])) {
    add(Kind::kIn, *args[1], true);
  } else if (IsCall(condition, "like") && args.size() == 2 && is_part(*args[0])) {
    MatchLike(*args[1], made, &found);
  } else if (args.size() == 1 && is_part(*args[0])) {
    if (IsCall(condition, "is_not_null") || IsCall(condition, "is_valued")) {
      found.push_back({.kind = Kind::kValued, .exact = Exact::kYes});
    } else if (IsCall(condition, "is_not_missing")) {
      found.push_back({.kind = Kind::kPresent, .exact = Exact::kYes});
    }
  }
  return found;
}

Result<Access::Choice> Access::Choose(const std::vector<SortTerm>* wanted_order) {
  if (term_.use_keys) return ByHint();
  ASSIGN_OR_RETURN(std::optional<Choice> choice, ByKeys());
  if (choice) return std::move(*choice);
  ASSIGN_OR_RETURN(choice, ByIndex(wanted_order));
  if (choice) {
    choice->by_index = true;
    return std::move(*choice);
  }
  return ByScan(wanted_order);
}

SourceTarget Access::Target() const { return planner_.TargetOf(term_.variable); }

// The conditions that the scan must still check: all but those that the ranges answer, and those
// that only follow from others (Condition::implied).
Result<ExprPtr> Access::Filter(const std::vector<bool>& without) {
  std::vector<Condition> left;
  for (size_t i = 0; i < conditions_.size(); ++i) {
    const bool answered = !without.empty() && without[i];
    if (!answered && !conditions_[i].implied) left.push_back(conditions_[i]);
  }
  return planner_.CompileConditions(left);
}

bool Access::IsId(const Expression& expression) const {
  const auto meta = AsMeta(expression);
  return meta && meta->variable == term_.variable && meta->field == "id";
}

Result<Access::Choice> Access::ByHint() {
  KeyScanOptions options{.target = Target()};
  options.validate = term_.use_keys->validate;
  ASSIGN_OR_RETURN(options.keys, planner_.compiler_.Compile(*term_.use_keys->keys));
  ASSIGN_OR_RETURN(options.filter, Filter({}));
  return Choice{.plan = MakeKeyScan(std::move(options)), .lookup = true};
}

// The first such condition is taken. All conditions stay in the filter, also this one.
Result<std::optional<Access::Choice>> Access::ByKeys() {
  const auto is_id = [this](const Expression& e) { return IsId(e); };
  for (const Condition& condition : conditions_) {
    for (const PartPredicate& predicate :
         MatchPart(*condition.expression, is_id, term_.variable, &made_)) {
      const bool equal = predicate.kind == PartPredicate::Kind::kEqual;
      if (!equal && predicate.kind != PartPredicate::Kind::kIn) continue;
      KeyScanOptions options{.target = Target()};
      ASSIGN_OR_RETURN(ExprPtr keys, planner_.compiler_.Compile(*predicate.value));
      options.keys = MakeKeySet(std::move(keys), equal);
      ASSIGN_OR_RETURN(options.filter, Filter({}));
      return Choice{.plan = MakeKeyScan(std::move(options)), .lookup = true};
    }
  }
  return std::nullopt;
}

Result<Access::Choice> Access::ByScan(const std::vector<SortTerm>* wanted_order) {
  KeyspaceScanOptions options{.target = Target()};
  const auto is_id = [this](const Expression& e) { return IsId(e); };
  for (const Condition& condition : conditions_) {
    for (const PartPredicate& predicate :
         MatchPart(*condition.expression, is_id, term_.variable, &made_)) {
      if (!predicate.compares()) continue;
      // Only kLow and kHigh are left here: ByKeys has taken the others. One bound on each side is
      // enough, because the filter checks all conditions.
      BoundExpr& bound = predicate.kind == PartPredicate::Kind::kLow ? options.from : options.to;
      if (bound.value != nullptr) continue;
      ASSIGN_OR_RETURN(bound.value, planner_.compiler_.Compile(*predicate.value));
      bound.inclusive = predicate.inclusive;
    }
  }
  ASSIGN_OR_RETURN(options.filter, Filter({}));
  // Keys are unique, so terms after META().id in ORDER BY do not matter.
  const bool sorted = wanted_order != nullptr && !wanted_order->empty() &&
                      IsId(*wanted_order->front().expression) &&
                      wanted_order->front().direction == nullptr;
  options.reverse = sorted && wanted_order->front().descending;
  return Choice{.plan = MakeKeyspaceScan(std::move(options)), .sorted = sorted};
}

}  // namespace sluice::query
