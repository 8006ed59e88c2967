// Plans and operators. A plan node is immutable and shared; Start makes an operator with the state
// of one run. An operator passes a row on by setting variables in the context's frame: rows are
// never copied between operators. Only an operator that must hold many rows (sort, group, hash
// join) copies them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "json/value.h"
#include "query/exec/context.h"
#include "query/exec/layout.h"

namespace sluice::query {

class Operator {
 public:
  virtual ~Operator() = default;
  // Starts from the first row; may be called again, for the next row of an outer loop.
  virtual void Open(Context& context) = 0;
  // Sets the variables of the next row. False at the end, or when the context has failed.
  virtual bool Next(Context& context) = 0;
};

// A keyspace that a plan reads from end to end.
struct ScannedSource {
  size_t source = 0;
  db::KeyspaceId keyspace = 0;
};

class PlanNode {
 public:
  virtual ~PlanNode() = default;
  virtual std::unique_ptr<Operator> Start() const = 0;
  // The source whose keyspace can be cut into ranges of keys such that the rows of all ranges, one
  // after the other, are the rows of the plan.
  virtual std::optional<ScannedSource> Splittable() const { return std::nullopt; }
  // {"operator": "...", ..., "input": {...}} as EXPLAIN shows it.
  virtual Value Explain() const = 0;
};

using PlanPtr = std::unique_ptr<const PlanNode>;

// Rows, each of which leaves its result in a slot.
struct QueryPlan {
  PlanPtr root;
  Slot result = 0;
};

// The form of a node with inputs in EXPLAIN.
Value Explained(std::string_view name, std::vector<std::pair<std::string_view, Value>> details,
                const PlanNode* input = nullptr);

}  // namespace sluice::query
