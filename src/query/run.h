// One run of a statement. Belongs to the engine.
#pragma once

#include <memory>

#include "query/engine.h"

namespace sluice::query {

Result<std::unique_ptr<Run>> StartRun(QueryEngine& engine,
                                      std::shared_ptr<const StatementPlan> plan,
                                      RunRequest request);

// A run that has only these rows.
std::unique_ptr<Run> MakeRowsRun(std::vector<Value> rows, std::vector<Warning> warnings = {});

// Statements that are no queries: definitions, PREPARE, EXPLAIN, INFER (statements.cc).
Result<std::unique_ptr<Run>> RunStatement(QueryEngine& engine,
                                          std::shared_ptr<const StatementPlan> plan,
                                          RunRequest request);

// The values of a plan's parameters, in its order; error 5370 for one that has none. Positional
// ones are moved out of the request.
Result<std::vector<Value>> BindParameters(const ParameterList& parameters, RunRequest& request);

}  // namespace sluice::query
