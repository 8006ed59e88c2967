#include "query/plan/access.h"

#include <utility>

#include "query/error.h"

namespace sluice::query {
namespace {

bool IsCall(const Expression& expression, std::string_view name) {
  return expression.kind == ExprKind::kCall && expression.name == name;
}

}  // namespace

std::vector<PartPredicate> MatchPart(const Expression& condition, const PartMatcher& is_part,
                                     VariableId document) {
  const auto known = [&](const Expression& value) {
    return !std::ranges::binary_search(ReferencedVariables(value), document) && !HasSubquery(value);
  };
  using Kind = PartPredicate::Kind;
  std::vector<PartPredicate> found;
  const auto compare = [&](const Expression& left, const Expression& right, bool inclusive) {
    if (is_part(left) && known(right)) {
      found.push_back({.kind = Kind::kHigh, .inclusive = inclusive, .value = &right});
    } else if (is_part(right) && known(left)) {
      found.push_back({.kind = Kind::kLow, .inclusive = inclusive, .value = &left});
    }
  };
  const auto& args = condition.args;
  if (IsCall(condition, "eq")) {
    if (is_part(*args[0]) && known(*args[1])) {
      found.push_back({.kind = Kind::kEqual, .value = args[1].get()});
    } else if (is_part(*args[1]) && known(*args[0])) {
      found.push_back({.kind = Kind::kEqual, .value = args[0].get()});
    }
  } else if (IsCall(condition, "lt")) {
    compare(*args[0], *args[1], false);
  } else if (IsCall(condition, "le")) {
    compare(*args[0], *args[1], true);
  } else if (IsCall(condition, "between") && args.size() == 3) {
    compare(*args[1], *args[0], true);
    compare(*args[0], *args[2], true);
  } else if (IsCall(condition, "in") && is_part(*args[0]) && known(*args[1])) {
    found.push_back({.kind = Kind::kIn, .value = args[1].get()});
  }
  return found;
}

Result<Access::Choice> Access::Choose(const std::vector<SortTerm>* wanted_order) {
  if (term_.use_keys) return ByHint();
  ASSIGN_OR_RETURN(std::optional<Choice> choice, ByKeys());
  if (choice) return std::move(*choice);
  ASSIGN_OR_RETURN(choice, ByIndex(wanted_order));
  if (choice) return std::move(*choice);
  return ByScan();
}

SourceTarget Access::Target() const { return planner_.TargetOf(term_.variable); }

Result<ExprPtr> Access::Filter(const std::vector<bool>& without) {
  std::vector<Condition> left;
  for (size_t i = 0; i < conditions_.size(); ++i) {
    if (without.empty() || !without[i]) left.push_back(conditions_[i]);
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

Result<std::optional<Access::Choice>> Access::ByKeys() {
  const auto is_id = [this](const Expression& e) { return IsId(e); };
  for (const Condition& condition : conditions_) {
    for (const PartPredicate& predicate : MatchPart(*condition.expression, is_id, term_.variable)) {
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

Result<Access::Choice> Access::ByScan() {
  KeyspaceScanOptions options{.target = Target()};
  const auto is_id = [this](const Expression& e) { return IsId(e); };
  for (const Condition& condition : conditions_) {
    for (const PartPredicate& predicate : MatchPart(*condition.expression, is_id, term_.variable)) {
      BoundExpr& bound = predicate.kind == PartPredicate::Kind::kLow ? options.from : options.to;
      if (bound.value != nullptr) continue;
      ASSIGN_OR_RETURN(bound.value, planner_.compiler_.Compile(*predicate.value));
      bound.inclusive = predicate.inclusive;
    }
  }
  ASSIGN_OR_RETURN(options.filter, Filter({}));
  return Choice{.plan = MakeKeyspaceScan(std::move(options))};
}

Result<std::optional<Access::Choice>> Access::ByIndex(const std::vector<SortTerm>*) {
  return std::nullopt;
}

}  // namespace sluice::query
