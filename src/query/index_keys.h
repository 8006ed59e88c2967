// The parts of an index as expressions over a document: for the planner, which compares them with
// conditions, and for the program that computes an index's rows.
#pragma once

#include <vector>

#include "base/status.h"
#include "db/index.h"
#include "query/bind/binder.h"
#include "query/parse/ast.h"

namespace sluice::query {

struct BoundIndexKey {
  ExpressionPtr expression;  // for an array part: the expression of the array
  bool each_element = false;
};

struct BoundIndex {
  std::vector<BoundIndexKey> keys;
  ExpressionPtr where;                     // null for none
  std::shared_ptr<const db::Index> index;  // that this is of; set by the planner
};

// Names are bound to `document`, a variable of the binder's.
Result<BoundIndex> BindIndex(Binder& binder, const db::IndexDefinition& definition,
                             VariableId document);

}  // namespace sluice::query
