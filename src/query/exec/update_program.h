// SET and UNSET: computes the new document of an UPDATE. Values are computed from the old document;
// loops (FOR v IN children WHEN ... END) walk over the old document, and each target becomes a path
// into the new one. A target whose parent is missing is skipped. Immutable; shared by all runs of a
// plan.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "query/exec/expr.h"

namespace sluice::query {

// A field's name, or an expression that gives a name or a position.
using TargetStep = std::variant<std::string, ExprPtr>;

struct UpdateRange {
  Slot name = 0;  // 0: not wanted
  Slot value = 0;
  bool within = false;
  bool itself = false;  // the value at the path itself, not its content
  // The path that is walked: below the document (root 0) or a variable of an outer loop.
  Slot root = 0;
  std::vector<TargetStep> steps;
};

struct UpdateLoop {
  std::vector<UpdateRange> ranges;
  ExprPtr when;
};

struct UpdateAssignment {
  bool expiration = false;  // SET META().expiration = value
  Slot root = 0;            // 0: the document; else the value variable of a loop
  std::vector<TargetStep> steps;
  ExprPtr value;                  // null: UNSET
  std::vector<UpdateLoop> loops;  // outermost first
};

struct UpdateResult {
  Value document;
  std::optional<uint64_t> expiry_ms;
};

class UpdateProgram {
 public:
  explicit UpdateProgram(std::vector<UpdateAssignment> assignments)
      : assignments_(std::move(assignments)) {}
  UpdateResult Apply(Context& context, const Value& document) const;

 private:
  class Runner;
  const std::vector<UpdateAssignment> assignments_;
};

// Seconds as SQL++ gives them: 0 for never, below 30 days from now on, else Unix time. Nullopt, and
// the run has failed, for a value that is not a number.
std::optional<uint64_t> ExpiryOf(Context& context, const Value& seconds);

}  // namespace sluice::query
