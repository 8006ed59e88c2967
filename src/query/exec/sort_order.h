// How terms of an ORDER BY order their values, for sorts and windows.
#pragma once

#include <string>

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

}  // namespace sluice::query
