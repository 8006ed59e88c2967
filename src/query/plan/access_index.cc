// Which index, if any.
//
// More leading parts that are equal win, then a range, then an index that answers all by itself,
// then one whose order is asked for. An index that would still lead to a good part of the
// documents one by one is worse than reading the keyspace from end to end, and is left alone unless
// a hint names it.
#include <utility>

#include "query/error.h"
#include "query/exec/expr_access.h"
#include "query/plan/index_choice.h"

namespace sluice::query {
namespace {

// Reading a document through an index costs about as much as this many of a scan.
constexpr uint64_t kFetchCost = 8;
// Below this many rows an index never hurts.
constexpr uint64_t kFewRows = 64;

int ScoreOf(const IndexMatch& match) {
  int score = 0;
  for (const PartPredicate& equal : match.equal) {
    score += equal.kind == PartPredicate::Kind::kEqual ? 100 : 80;
  }
  if (match.low || match.high) score += match.low && match.high ? 50 : 40;
  if (match.covering) score += 30;
  if (match.sorted) score += 20;
  return score - static_cast<int>(match.index->definition().parts.size());
}

}  // namespace

Result<std::optional<Access::Choice>> Access::ByIndex(const std::vector<SortTerm>* wanted_order) {
  const db::KeyspaceInfo* keyspace =
      planner_.catalog_.Find(planner_.variables_[term_.variable].keyspace);
  if (keyspace == nullptr) return std::nullopt;
  const IndexMatcher matcher(*planner_.layout_, term_.variable, conditions_, wanted_order, &made_);
  std::optional<IndexMatch> best;
  std::vector<BoundIndex> kept;  // what the best one's predicates may point into
  for (const auto& index : keyspace->indexes) {
    const bool hinted = IsHinted(index->definition().name);
    if (!index->CheckReady().ok() || index->definition().primary) continue;
    if (!term_.use_index.empty() && !hinted) continue;
    Binder binder(planner_.catalog_, {});
    binder.variables() = planner_.variables_;
    auto bound = BindIndex(binder, index->definition(), term_.variable);
    if (!bound) continue;
    std::optional<IndexMatch> match = matcher.Match(index, *bound);
    if (!match || (best && ScoreOf(*match) <= ScoreOf(*best))) continue;
    best = std::move(match);
    kept.push_back(std::move(*bound));
  }
  if (!best) return std::nullopt;
  ASSIGN_OR_RETURN(IndexScanOptions options, IndexScanOf(*best));
  if (term_.use_index.empty() && !best->covering && !best->sorted) {
    ASSIGN_OR_RETURN(const bool pays, IndexPays(*best, options.span));
    if (!pays) return std::nullopt;
  }
  Choice choice;
  choice.lookup = UsesOthers(*best);
  choice.sorted = best->sorted;
  choice.plan = MakeIndexScan(std::move(options));
  return choice;
}

bool Access::IsHinted(const std::string& name) const {
  return std::ranges::any_of(term_.use_index, [&](const IndexHint& hint) {
    return hint.name.empty() || hint.name == name;
  });
}

// Whether a value comes from a row before this one.
bool Access::UsesOthers(const IndexMatch& match) {
  const auto uses = [](const PartPredicate& predicate) {
    return !ReferencedVariables(*predicate.value).empty();
  };
  return std::ranges::any_of(match.equal, uses) || (match.low && uses(*match.low)) ||
         (match.high && uses(*match.high));
}

Result<IndexScanOptions> Access::IndexScanOf(const IndexMatch& match) {
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
  options.span.bounded = match.low || match.high;
  options.reverse = match.reverse;
  options.distinct = match.array;
  options.covering = match.covering;
  options.covered = match.covered;
  options.text = std::move(text);
  ASSIGN_OR_RETURN(options.filter, Filter(match.answered));
  return options;
}

// By the store's estimate, where all values are constants; else a guess in favour of the index.
Result<bool> Access::IndexPays(const IndexMatch& match, const SpanExpr& span) {
  const auto constant = [](const ExprPtr& value) {
    return value == nullptr || value->constant() != nullptr;
  };
  if (!constant(span.low.value) || !constant(span.high.value)) return true;
  for (const SpanExpr::Equal& equal : span.equal) {
    if (!constant(equal.value)) return true;
  }
  Layout no_layout{Variables{}};
  const auto reader = db::NewSnapshotReader(planner_.database_);
  MemoryBudget memory(SIZE_MAX / 2);
  RunOptions run;
  run.clock = &planner_.database_.clock();
  run.memory = &memory;
  Context context(no_layout, *reader, run);
  uint64_t rows = 0;
  for (const db::IndexRange& range : RangesOf(context, span, match.index->definition())) {
    rows += planner_.database_.EstimateRows(*match.index, range.from, range.to);
    if (context.failed()) return true;
  }
  if (rows <= kFewRows) return true;
  return rows * kFetchCost < planner_.database_.EstimateRows(match.index->keyspace());
}

}  // namespace sluice::query
