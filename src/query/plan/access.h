// How one keyspace is read: by keys, by a range of keys, through an index, or from end to end.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "query/plan/planner.h"

namespace sluice::query {

// What must hold of a part of a document, as far as an index or the order of keys can find it.
struct PartPredicate {
  enum class Kind : uint8_t { kEqual, kIn, kLow, kHigh };
  Kind kind = Kind::kEqual;
  bool inclusive = true;
  const Expression* value = nullptr;  // not of this document
  bool exact = false;                 // says all that the condition says
};

// The ways in which a condition compares a part with something that is known before the document
// is: part = e, part < e, part BETWEEN, part IN e, part LIKE 'x%'. Empty when it does not. Values
// that the condition does not hold as such are added to `made`.
using PartMatcher = std::function<bool(const Expression&)>;
std::vector<PartPredicate> MatchPart(const Expression& condition, const PartMatcher& is_part,
                                     VariableId document, std::vector<ExpressionPtr>* made);

struct IndexMatch;

class Access {
 public:
  Access(Planner& planner, const FromTerm& term, const std::vector<Condition>& conditions)
      : planner_(planner), term_(term), conditions_(conditions) {}

  struct Choice {
    PlanPtr plan;
    // Whether it depends on the rows before it: then it is opened for each of them.
    bool lookup = false;
    bool sorted = false;
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
  bool IsHinted(const std::string& name) const;
  static bool UsesOthers(const IndexMatch& match);
  Result<IndexScanOptions> IndexScanOf(const IndexMatch& match);
  Result<bool> IndexPays(const IndexMatch& match, const SpanExpr& span);

  Planner& planner_;
  const FromTerm& term_;
  const std::vector<Condition>& conditions_;
  std::vector<ExpressionPtr> made_;
};

}  // namespace sluice::query
