// Several indexes for one keyspace: any of them for an OR, all of them for an AND.
#include <utility>

#include "query/exec/expr_access.h"
#include "query/plan/index_choice.h"

namespace sluice::query {
namespace {

constexpr size_t kMaxAlternatives = 256;
// Finding a key in a set costs about as much as this many documents of a scan.
constexpr uint64_t kKeyCost = 2;

}  // namespace

// The cheapest of the ORs among the conditions.
Result<std::optional<IndexOffer>> Access::Union() {
  std::optional<IndexOffer> best;
  for (size_t i = 0; i < conditions_.size(); ++i) {
    ASSIGN_OR_RETURN(std::optional<IndexOffer> offer, UnionOf(i));
    if (offer && (!best || offer->cost < best->cost)) best = std::move(offer);
  }
  return best;
}

// Each alternative of the OR, together with all other conditions, needs an index. Alternatives may
// use different indexes.
Result<std::optional<IndexOffer>> Access::UnionOf(size_t condition) {
  const auto alternatives = SplitAlternatives(*conditions_[condition].expression);
  if (alternatives.empty() || alternatives.size() > kMaxAlternatives) return std::nullopt;
  std::vector<Condition> others = conditions_;
  others.erase(others.begin() + static_cast<ptrdiff_t>(condition));
  IndexOffer offer;
  offer.rows = 0;
  for (const Expression* alternative : alternatives) {
    std::vector<Condition> conditions = SplitConditions(alternative);
    const size_t own = conditions.size();
    conditions.insert(conditions.end(), others.begin(), others.end());
    std::vector<IndexMatch> matches = Matches(conditions, nullptr);
    // The index must use a condition of the alternative itself: one that uses only the others would
    // find the same rows for each alternative.
    std::erase_if(matches, [&](const IndexMatch& match) {
      const auto end = match.used.begin() + static_cast<ptrdiff_t>(own);
      return std::find(match.used.begin(), end, true) == end;
    });
    // One alternative without an index needs the whole keyspace anyway.
    if (matches.empty()) return std::nullopt;
    const IndexMatch& match = *std::ranges::max_element(matches, {}, ScoreOf);
    ASSIGN_OR_RETURN(IndexScanOptions scan, SpanOf(match));
    const std::optional<uint64_t> rows = RowsOf(scan);
    offer.rows = offer.rows && rows ? std::optional(*offer.rows + *rows) : std::nullopt;
    offer.lookup |= UsesOthers(match);
    offer.scans.push_back(std::move(scan));
  }
  offer.cost = offer.rows.value_or(0) * kFetchCost;
  return offer;
}

// The best index together with a second one that uses a condition which the first does not. Without
// a hint that names both, only if that costs less than the best one alone.
Result<std::optional<IndexOffer>> Access::Intersect(const std::vector<IndexMatch>& matches,
                                                    const IndexMatch& best,
                                                    const IndexOffer& alone) {
  const bool hinted = term_.use_index.size() > 1;
  if (best.covering || best.sorted) return std::nullopt;
  const std::optional<uint64_t> first_rows = alone.rows;
  if (!hinted && first_rows.value_or(0) <= kFewRows) return std::nullopt;
  std::optional<IndexScanOptions> second;
  std::optional<uint64_t> second_rows;
  bool lookup = UsesOthers(best);
  for (const IndexMatch& match : matches) {
    bool more = false;
    for (size_t i = 0; i < match.used.size(); ++i) more |= match.used[i] && !best.used[i];
    if (!more || match.index == best.index) continue;
    ASSIGN_OR_RETURN(IndexScanOptions scan, SpanOf(match));
    const std::optional<uint64_t> rows = RowsOf(scan);
    // Without an estimate nothing shows that reading a second index is cheaper.
    if (!hinted && !rows) continue;
    if (second && rows.value_or(0) >= second_rows.value_or(0)) continue;
    second = std::move(scan);
    second_rows = rows;
    lookup = UsesOthers(best) || UsesOthers(match);
  }
  if (!second) return std::nullopt;
  ASSIGN_OR_RETURN(IndexScanOptions first, SpanOf(best));
  IndexOffer offer{.scans = {}, .intersect = true, .lookup = lookup, .rows = {}, .cost = 0};
  if (first_rows && second_rows) {
    const uint64_t all =
        std::max<uint64_t>(planner_.database_.estimates().Rows(best.index->keyspace()), 1);
    offer.rows = *first_rows + *second_rows;
    // All keys of both are read; of the documents, the share that both indexes name if their
    // conditions are independent.
    offer.cost = *offer.rows * kKeyCost + *first_rows * *second_rows / all * kFetchCost;
    if (!hinted && offer.cost >= *first_rows * kFetchCost) return std::nullopt;
    // The keys of the first are kept in memory, so the smaller one comes first.
    if (*second_rows < *first_rows) std::swap(first, *second);
  }
  offer.scans.push_back(std::move(first));
  offer.scans.push_back(std::move(*second));
  return offer;
}

// The filter checks all conditions: no single range answers one of them.
Result<Access::Choice> Access::ChooseSet(IndexOffer offer) {
  IndexSetOptions options{
      .target = Target(), .intersect = offer.intersect, .scans = std::move(offer.scans)};
  ASSIGN_OR_RETURN(options.filter, Filter({}));
  return Choice{.plan = MakeIndexSet(std::move(options)), .lookup = offer.lookup};
}

}  // namespace sluice::query
