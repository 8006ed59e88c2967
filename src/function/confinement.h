// Which keyspaces the statements of user code may use.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "function/definition.h"
#include "query/statement_plan.h"

namespace sluice::function {

// A confined function's statements keep to the buckets of its bindings, error function.confined;
// those of a task to its keyspaces.
Status CheckConfined(const Definition& definition, const query::StatementPlan& plan);
// The same of a keyspace that a statement names, which need not exist.
Status CheckConfined(const Definition& definition, const db::KeyspaceName& keyspace);

// Whether a task's statement keeps to the keyspaces that sluice.yaml gives to it; without any it
// may use all. Error route.confined.
Status CheckTaskStatement(const std::string& route, const std::vector<BucketBinding>& keyspaces,
                          const query::StatementPlan& plan);

}  // namespace sluice::function
