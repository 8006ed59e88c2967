// SET and UNSET: what an UPDATE makes of a document. Values are computed from the document as it
// was; loops (FOR v IN children WHEN ... END) are walked over it, and each target becomes a path
// into the new one. A target whose parent is not there is passed over.
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
  bool itself = false;  // the thing at the path, not what is in it
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

// Seconds as SQL++ gives them: 0 for never, below 30 days from now on, else Unix time. Nothing, and
// the run has failed, for what is no number.
std::optional<uint64_t> ExpiryOf(Context& context, const Value& seconds);

}  // namespace sluice::query
