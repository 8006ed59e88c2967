// How well an index answers the conditions on one keyspace. Used on one thread while a statement is
// planned.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "query/plan/access.h"

namespace sluice::query {

// One index and the scan that it offers. Predicates point into the conditions.
struct IndexMatch {
  std::shared_ptr<const db::Index> index;
  std::vector<PartPredicate> equal;  // kEqual or kIn, of the leading parts
  std::optional<PartPredicate> low;  // of the part after them
  std::optional<PartPredicate> high;
  std::optional<PartPredicate> floor;    // kValued or kPresent, where there is neither low nor high
  std::vector<bool> used;                // by condition: the ranges come from it
  std::vector<bool> answered;            // by condition: the ranges say all of it
  std::vector<bool> answered_if_scalar;  // or do so when all their values are scalars
  std::vector<CoveredPart> covered;
  bool covering = false;
  bool array = false;   // a document may have several rows
  bool sorted = false;  // rows come in the wanted order
  bool reverse = false;

  void Answer(size_t condition, PartPredicate::Exact exact);
  size_t parts_used() const { return equal.size() + (low || high || floor ? 1 : 0); }
};

// Reading a document through an index costs about as much as this many of a scan.
inline constexpr uint64_t kFetchCost = 8;
// Below this many rows an index never hurts.
inline constexpr uint64_t kFewRows = 64;

// One index scan, or several together, and their cost.
struct IndexOffer {
  std::vector<IndexScanOptions> scans;
  bool intersect = false;
  bool lookup = false;  // values come from rows before this one
  // By the store's estimates; none where a value is not known yet: a guess in favour of the index.
  std::optional<uint64_t> rows;  // that are read of the indexes
  uint64_t cost = 0;             // in documents of a scan
};

int ScoreOf(const IndexMatch& match);

class IndexMatcher {
 public:
  IndexMatcher(const Layout& layout, VariableId document, const std::vector<Condition>& conditions,
               const std::vector<SortTerm>* wanted_order, std::vector<ExpressionPtr>* made)
      : layout_(layout),
        document_(document),
        conditions_(conditions),
        wanted_order_(wanted_order),
        made_(made) {}

  // Nothing when no condition is about its first part, or when it may lack documents.
  std::optional<IndexMatch> Match(const BoundIndex& bound) const;

 private:
  struct Found {
    PartPredicate predicate;
    size_t condition = 0;
  };
  bool HoldsWhere(const Expression* where) const;
  std::vector<Found> PredicatesOf(const BoundIndexKey& key) const;
  std::vector<PartPredicate> MatchElements(const Expression& condition,
                                           const Expression& array) const;
  bool TakePart(const std::vector<Found>& found, IndexMatch* match) const;
  static void TakeFloor(const std::vector<Found>& found, IndexMatch* match);
  void Cover(const BoundIndex& bound, IndexMatch* match) const;
  void CheckOrder(const BoundIndex& bound, IndexMatch* match) const;

  const Layout& layout_;
  const VariableId document_;
  const std::vector<Condition>& conditions_;
  const std::vector<SortTerm>* wanted_order_;
  std::vector<ExpressionPtr>* made_;
};

}  // namespace sluice::query
