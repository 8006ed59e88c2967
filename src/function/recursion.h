// Functions that would call each other without an end: one writes where another listens, and so on
// back to the first. Found before a function is deployed, from what functions may write to.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "db/types.h"
#include "function/definition.h"
#include "function/source/transpile.h"

namespace sluice::function {

// Where a function's events come from and where its writes go, as far as its definition tells:
// through bindings that may write, and to the targets of SQL++ statements in its code. Bindings to
// several keyspaces (`*`) and statements in N1QL() calls are not seen.
struct DataFlow {
  std::string function;  // its location
  db::KeyspaceName source;
  std::vector<db::KeyspaceName> targets;     // without the source
  bool writes_source = false;                // through a binding, which is suppressed
  std::optional<SourcePlace> own_statement;  // a statement that writes to the source
};
DataFlow FlowOf(const Definition& definition, const PreparedSource& source);

// function.sql_recursion, for a statement that writes to the source: such writes are never
// suppressed.
Status CheckStatements(const DataFlow& flow);
// Whether `added` may run beside `deployed`; those of the same name are passed over. Errors:
// function.recursion for a cycle, with the functions on it, and function.shared_source for a second
// function that changes the documents of a source, whose writes the first would see, and so on.
Status CheckRecursion(const DataFlow& added, std::span<const DataFlow> deployed);

}  // namespace sluice::function
