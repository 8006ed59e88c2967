// How terms of an ORDER BY order their values, for sorts and windows.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "query/exec/expr.h"
#include "query/parse/ast.h"

namespace sluice::query {

struct SortKey {
  ExprPtr value;
  bool descending = false;
  ExprPtr direction;  // "asc" or "desc", known when the sort opens
  SortTerm::Nulls nulls = SortTerm::Nulls::kDefault;
  std::string text;
};

// A term whose direction is known.
struct KeyOrder {
  bool descending = false;
  bool nulls_last = false;
};

// Fails the run when the direction is none.
KeyOrder OrderOf(Context& context, const SortKey& key);

// Below, equal or above zero: whether `a` comes before `b`.
int CompareKey(const Value& a, const Value& b, const KeyOrder& order);

// Sorts stably, in runs that are then merged, so that the run can be stopped in between: the order
// is then any.
template <typename T, typename Less>
void SortInRuns(Context& context, std::vector<T>& items, const Less& less) {
  constexpr size_t kRun = 4096;
  const auto at = [&](size_t position) {
    return items.begin() + static_cast<ptrdiff_t>(std::min(position, items.size()));
  };
  for (size_t i = 0; i < items.size() && context.Tick(kRun); i += kRun) {
    std::stable_sort(at(i), at(i + kRun), less);
  }
  for (size_t run = kRun; run < items.size(); run *= 2) {
    for (size_t i = 0; i + run < items.size() && context.Tick(run); i += 2 * run) {
      std::inplace_merge(at(i), at(i + run), at(i + 2 * run), less);
    }
  }
}

}  // namespace sluice::query
