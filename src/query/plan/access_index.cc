// Chooses the index for a keyspace, if any.
//
// The index with the most equal leading parts wins, then one with a range, then a covering one,
// then one in the wanted order. Several indexes together (access_sets.cc) are taken if they cost
// less. An index that would still lead to a large part of the documents one by one is worse than
// reading the whole keyspace, and is not used unless a hint names it.
#include <utility>

#include "query/error.h"
#include "query/exec/expr_access.h"
#include "query/plan/index_choice.h"

namespace sluice::query {

// The numbers only order the cases: an equal part counts more than a range, a range more than
// covering or order alone. Among equals the index with fewer parts wins, because its rows are
// smaller.
int ScoreOf(const IndexMatch& match) {
  int score = 0;
  for (const PartPredicate& equal : match.equal) {
    score += equal.kind == PartPredicate::Kind::kEqual ? 100 : 80;
  }
  if (match.low || match.high) score += match.low && match.high ? 50 : 40;
  if (match.floor) score += 5;
  if (match.covering) score += 30;
  if (match.sorted) score += 20;
  return score - static_cast<int>(match.index->definition().parts.size());
}

Result<std::optional<Access::Choice>> Access::ByIndex(const std::vector<SortTerm>* wanted_order) {
  BindIndexes();
  if (indexes_.empty()) return std::nullopt;
  // Two steps: a score without any reads picks the best single index; estimates of rows from the
  // store then decide whether this one, two together, or a union for an OR is cheapest, and whether
  // it beats reading the keyspace.
  const std::vector<IndexMatch> matches = Matches(conditions_, wanted_order);
  const auto best = std::ranges::max_element(matches, {}, ScoreOf);
  std::optional<IndexOffer> offer;
  if (best != matches.end()) {
    ASSIGN_OR_RETURN(offer, OfferOf(*best));
    ASSIGN_OR_RETURN(std::optional<IndexOffer> both, Intersect(matches, *best, *offer));
    if (both) offer = std::move(both);
  }
  // An OR is considered only if no single index helps much.
  if (!offer || (!best->covering && !best->sorted && offer->rows.value_or(0) > kFewRows)) {
    ASSIGN_OR_RETURN(std::optional<IndexOffer> any, Union());
    if (any && (!offer || any->cost < offer->cost)) offer = std::move(any);
  }
  if (!offer) return std::nullopt;
  if (offer->scans.size() > 1) {
    if (!Pays(*offer)) return std::nullopt;
    ASSIGN_OR_RETURN(Choice choice, ChooseSet(std::move(*offer)));
    return choice;
  }
  // Not estimated (OfferOf): a covering scan reads no documents, and one in the wanted order saves
  // the sort and may end early.
  if (!best->covering && !best->sorted && !Pays(*offer)) return std::nullopt;
  IndexScanOptions& scan = offer->scans[0];
  scan.reverse = best->reverse;
  scan.distinct = best->array;
  scan.covering = best->covering;
  scan.covered = best->covered;
  ASSIGN_OR_RETURN(scan.filter, Filter(best->answered));
  // Values of parameters are known only when the scan opens. If they are scalars the ranges are
  // exact, and the scan checks the shorter filter.
  scan.has_scalar_filter = best->answered_if_scalar != best->answered;
  ASSIGN_OR_RETURN(scan.scalar_filter, Filter(best->answered_if_scalar));
  return Choice{
      .plan = MakeIndexScan(std::move(scan)), .lookup = offer->lookup, .sorted = best->sorted};
}

bool Access::IsHinted(const std::string& name) const {
  return std::ranges::any_of(term_.use_index, [&](const IndexHint& hint) {
    return hint.name.empty() || hint.name == name;
  });
}

// The indexes that can be read, and that a hint allows.
void Access::BindIndexes() {
  const db::KeyspaceInfo* keyspace =
      planner_.catalog_.Find(planner_.variables_[term_.variable].keyspace);
  if (keyspace == nullptr) return;
  for (const auto& index : keyspace->indexes) {
    if (!index->CheckReady().ok() || index->definition().primary) continue;
    if (!term_.use_index.empty() && !IsHinted(index->definition().name)) continue;
    // The expressions of the index, bound to this term's variable, can be compared with the
    // conditions by SameExpression.
    Binder binder(planner_.catalog_, {});
    binder.variables() = planner_.variables_;
    auto bound = BindIndex(binder, index->definition(), term_.variable);
    if (!bound) continue;
    bound->index = index;
    indexes_.push_back(std::move(*bound));
  }
}

std::vector<IndexMatch> Access::Matches(const std::vector<Condition>& conditions,
                                        const std::vector<SortTerm>* wanted_order) {
  const IndexMatcher matcher(*planner_.layout_, term_.variable, conditions, wanted_order, &made_);
  std::vector<IndexMatch> matches;
  for (const BoundIndex& bound : indexes_) {
    if (auto match = matcher.Match(bound)) matches.push_back(std::move(*match));
  }
  return matches;
}

// Whether a value comes from a row before this one.
bool Access::UsesOthers(const IndexMatch& match) {
  const auto uses = [](const PartPredicate& predicate) {
    return !ReferencedVariables(*predicate.value).empty();
  };
  return std::ranges::any_of(match.equal, uses) || (match.low && uses(*match.low)) ||
         (match.high && uses(*match.high));
}

// The expressions of the scan's ranges, and their text for EXPLAIN.
Result<IndexScanOptions> Access::SpanOf(const IndexMatch& match) {
  IndexScanOptions options{.target = Target()};
  options.index = match.index;
  std::string text;
  const auto& parts = match.index->definition().parts;
  const auto name = [&](size_t part) {
    return parts[part].expression.empty() ? parts[part].path : parts[part].expression;
  };
  const auto say = [&](size_t part, std::string_view op, const Expression& value) {
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", name(part), op, ToText(value));
  };
  for (const PartPredicate& equal : match.equal) {
    const bool any_of = equal.kind == PartPredicate::Kind::kIn;
    say(options.span.equal.size(), any_of ? "IN" : "=", *equal.value);
    ASSIGN_OR_RETURN(ExprPtr value, planner_.compiler_.Compile(*equal.value));
    options.span.equal.push_back({.value = std::move(value), .any_of = any_of});
  }
  const size_t next = match.equal.size();
  if (match.low) {
    say(next, match.low->inclusive ? ">=" : ">", *match.low->value);
    ASSIGN_OR_RETURN(options.span.low.value, planner_.compiler_.Compile(*match.low->value));
    options.span.low.inclusive = match.low->inclusive;
  }
  if (match.high) {
    say(next, match.high->inclusive ? "<=" : "<", *match.high->value);
    ASSIGN_OR_RETURN(options.span.high.value, planner_.compiler_.Compile(*match.high->value));
    options.span.high.inclusive = match.high->inclusive;
  }
  if (match.floor) {
    const bool present = match.floor->kind == PartPredicate::Kind::kPresent;
    text += fmt::format("{}{} IS {}", text.empty() ? "" : ", ", name(next),
                        present ? "NOT MISSING" : "VALUED");
    options.span.with_null = present;
  }
  options.span.bounded = match.low || match.high || match.floor;
  options.text = std::move(text);
  return options;
}

// The store's estimate, if all values are constants; nullopt otherwise.
std::optional<uint64_t> Access::RowsOf(const IndexScanOptions& scan) {
  const auto constant = [](const ExprPtr& value) {
    return value == nullptr || value->constant() != nullptr;
  };
  const SpanExpr& span = scan.span;
  if (!constant(span.low.value) || !constant(span.high.value)) return std::nullopt;
  for (const SpanExpr::Equal& equal : span.equal) {
    if (!constant(equal.value)) return std::nullopt;
  }
  Layout no_layout{Variables{}};
  const auto reader = db::NewSnapshotReader(planner_.database_);
  MemoryBudget memory(SIZE_MAX / 2);
  RunOptions run;
  run.clock = &planner_.database_.clock();
  run.memory = &memory;
  Context context(no_layout, *reader, run);
  uint64_t rows = 0;
  // The ranges are computed as the scan would compute them, with a context that has nothing but
  // constants.
  for (const db::IndexRange& range : RangesOf(context, span, scan.index->definition())) {
    rows += planner_.database_.estimates().Rows(*scan.index, range.from, range.to);
    if (context.failed()) return std::nullopt;
  }
  return rows;
}

Result<IndexOffer> Access::OfferOf(const IndexMatch& match) {
  IndexOffer offer;
  ASSIGN_OR_RETURN(IndexScanOptions scan, SpanOf(match));
  offer.lookup = UsesOthers(match);
  // These are taken in any case, so their cost is not estimated.
  const bool taken = match.covering || match.sorted || term_.use_index.size() == 1;
  if (!taken) offer.rows = RowsOf(scan);
  offer.cost = offer.rows.value_or(0) * kFetchCost;
  offer.scans.push_back(std::move(scan));
  return offer;
}

// A hint always pays. Few rows always pay: estimates of small numbers are poor. Otherwise the
// fetches must cost less than a scan of all documents.
bool Access::Pays(const IndexOffer& offer) {
  if (!term_.use_index.empty() || offer.rows.value_or(0) <= kFewRows) return true;
  return offer.cost < planner_.database_.estimates().Rows(offer.scans[0].index->keyspace());
}

}  // namespace sluice::query
