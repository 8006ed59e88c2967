// Finds functions that would call each other without an end: one writes to the source of another,
// and so on back to the first. The check runs before a function is deployed and looks at the
// keyspaces that functions may write to.
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

// The source of a function's events and the targets of its writes, as far as its definition shows
// them: writable bindings, and the targets of SQL++ statements in its code. Bindings to several
// keyspaces (`*`) and statements in N1QL() calls are not seen.
struct DataFlow {
  std::string function;  // its location
  db::KeyspaceName source;
  std::vector<db::KeyspaceName> targets;     // other than the source
  bool writes_source = false;                // through a binding; it does not see those writes
  std::optional<SourcePlace> own_statement;  // a statement that writes to the source
};
DataFlow FlowOf(const Definition& definition, const PreparedSource& source);

// Error function.sql_recursion for a statement that writes to the source: the function would see
// those writes.
Status CheckStatements(const DataFlow& flow);
// Whether `added` may run beside `deployed`, a function of the same name aside. Errors:
// function.recursion for a cycle, with the functions on it; function.shared_source if another
// function changes the documents of the same source, because each would see the other's writes.
Status CheckRecursion(const DataFlow& added, std::span<const DataFlow> deployed);

}  // namespace sluice::function
