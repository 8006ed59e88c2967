// Two inputs into one: JOIN, UNNEST and NEST.
#pragma once

#include <string>
#include <vector>

#include "query/exec/expr.h"
#include "query/exec/operator.h"
#include "query/exec/row_keeper.h"
#include "query/parse/ast.h"

namespace sluice::query {

// For each row of the left, the rows of the right, which is opened again and may use the left's
// variables.
struct NestedLoopOptions {
  PlanPtr left;
  PlanPtr right;
  ExprPtr condition;   // null: all pairs
  bool outer = false;  // LEFT: a row without a partner stays, the right's variables MISSING
  RowVariables right_variables;
  std::string name;  // for EXPLAIN
};
PlanPtr MakeNestedLoop(NestedLoopOptions options);

// The right's rows in a hash table by their keys; the left looks its own up.
struct HashJoinOptions {
  PlanPtr left;
  PlanPtr right;
  std::vector<ExprPtr> left_keys;
  std::vector<ExprPtr> right_keys;
  ExprPtr condition;  // the rest of the join's condition
  bool outer = false;
  RowVariables right_variables;
  const Layout* layout = nullptr;
  bool once = true;  // the right is the same whenever the join is opened
  std::string text;
};
PlanPtr MakeHashJoin(HashJoinOptions options);

// Keeps the rows of an input that does not depend on the outer row, so that it runs once.
PlanPtr MakeMaterialized(PlanPtr input, RowVariables variables, const Layout* layout);

// All partners of a left row as one array.
struct NestOptions {
  PlanPtr left;
  PlanPtr right;
  ExprPtr condition;
  ExprPtr item;  // the value of a right row in the array
  Slot slot = 0;
  bool outer = false;
  // ON KEYS: with MISSING or NULL keys a LEFT NEST gives MISSING instead of [].
  ExprPtr keys;
  std::string alias;
};
PlanPtr MakeNest(NestOptions options);

}  // namespace sluice::query
