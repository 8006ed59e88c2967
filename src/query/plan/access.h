// How one keyspace is read: by keys, by a range of keys, through an index, or from end to end.
// Lives while one keyspace of a statement is planned, on one thread; the planner, the term and the
// conditions outlive it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "query/index_keys.h"
#include "query/plan/planner.h"

namespace sluice::query {

// A condition on a part of a document that an index, or the order of the keys, can find.
struct PartPredicate {
  enum class Kind : uint8_t {
    kEqual,
    kIn,
    kLow,
    kHigh,
    kValued,   // IS NOT NULL, IS VALUED: there is no value to compare with
    kPresent,  // IS NOT MISSING
  };
  // Whether the predicate is equivalent to the condition: never, only if the value is a scalar, or
  // always. The order of the enumerators matters.
  enum class Exact : uint8_t { kNo, kIfScalar, kYes };
  Kind kind = Kind::kEqual;
  bool inclusive = true;
  const Expression* value = nullptr;  // not of this document
  Exact exact = Exact::kNo;

  bool compares() const { return kind != Kind::kValued && kind != Kind::kPresent; }
};

// The predicates of a condition that compares a part with a value that is known before the document
// is read: part = e, part < e, part BETWEEN, part IN e, part LIKE 'x%', part IS NOT MISSING. Empty
// if it does not. New expressions that the predicates need are added to `made`.
using PartMatcher = std::function<bool(const Expression&)>;
std::vector<PartPredicate> MatchPart(const Expression& condition, const PartMatcher& is_part,
                                     VariableId document, std::vector<ExpressionPtr>* made);

struct IndexMatch;
struct IndexOffer;

class Access {
 public:
  Access(Planner& planner, const FromTerm& term, const std::vector<Condition>& conditions)
      : planner_(planner), term_(term), conditions_(conditions) {}

  struct Choice {
    PlanPtr plan;
    // Whether it depends on the rows before it: then it is opened for each of them.
    bool lookup = false;
    bool sorted = false;
    bool by_index = false;
  };
  // `filter` holds all conditions that the scan checks itself.
  Result<Choice> Choose(const std::vector<SortTerm>* wanted_order);

 private:
  Result<Choice> ByHint();
  Result<std::optional<Choice>> ByKeys();
  Result<std::optional<Choice>> ByIndex(const std::vector<SortTerm>* wanted_order);
  Result<Choice> ByScan(const std::vector<SortTerm>* wanted_order);
  SourceTarget Target() const;
  Result<ExprPtr> Filter(const std::vector<bool>& without);
  bool IsId(const Expression& expression) const;
  // access_index.cc
  bool IsHinted(const std::string& name) const;
  void BindIndexes();
  std::vector<IndexMatch> Matches(const std::vector<Condition>& conditions,
                                  const std::vector<SortTerm>* wanted_order);
  static bool UsesOthers(const IndexMatch& match);
  Result<IndexScanOptions> SpanOf(const IndexMatch& match);
  std::optional<uint64_t> RowsOf(const IndexScanOptions& scan);
  Result<IndexOffer> OfferOf(const IndexMatch& match);
  bool Pays(const IndexOffer& offer);
  // access_sets.cc
  Result<std::optional<IndexOffer>> Union();
  Result<std::optional<IndexOffer>> UnionOf(size_t condition);
  Result<std::optional<IndexOffer>> Intersect(const std::vector<IndexMatch>& matches,
                                              const IndexMatch& best, const IndexOffer& alone);
  Result<Choice> ChooseSet(IndexOffer offer);

  Planner& planner_;
  const FromTerm& term_;
  const std::vector<Condition>& conditions_;
  std::vector<ExpressionPtr> made_;
  std::vector<BoundIndex> indexes_;  // that may be used
};

}  // namespace sluice::query
