// The keyspaces that the statements of user code may use.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "function/definition.h"
#include "query/statement_plan.h"

namespace sluice::function {

// A confined function's statements may use only the buckets of its bindings, and those of a task
// only its keyspaces. Error function.confined.
Status CheckConfined(const Definition& definition, const query::StatementPlan& plan);
// The same for a keyspace that a statement names. It need not exist.
Status CheckConfined(const Definition& definition, const db::KeyspaceName& keyspace);

// A task's statement may use only the keyspaces that sluice.yaml gives to the task; if it gives
// none, all of them. Error route.confined.
Status CheckTaskStatement(const std::string& route, const std::vector<BucketBinding>& keyspaces,
                          const query::StatementPlan& plan);

}  // namespace sluice::function
