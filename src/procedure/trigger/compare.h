// Compares an existing trigger or consumer with a CREATE statement.
#pragma once

#include "procedure/trigger/definition.h"
#include "query/definition_state.h"
#include "query/parse/ast.h"

namespace sluice::procedure {

// Whether a definition can replace another one and keep its cursor: both are of the same kind and
// follow the same keyspaces.
bool CanReplace(const TriggerDefinition& present, const TriggerDefinition& wanted);

// `wanted` was made from `statement`.
query::DefinitionState CompareTrigger(const TriggerDefinition& present,
                                      const TriggerDefinition& wanted,
                                      const query::TriggerStatement& statement);

}  // namespace sluice::procedure
