// How a trigger or a consumer that is there differs from what a CREATE statement says.
#pragma once

#include "procedure/trigger/definition.h"
#include "query/definition_state.h"
#include "query/parse/ast.h"

namespace sluice::procedure {

// Whether one can take the place of the other, with its cursor: the same kind on the same
// keyspaces.
bool CanReplace(const TriggerDefinition& present, const TriggerDefinition& wanted);

// `statement` is the one that `wanted` was made of.
query::DefinitionState CompareTrigger(const TriggerDefinition& present,
                                      const TriggerDefinition& wanted,
                                      const query::TriggerStatement& statement);

}  // namespace sluice::procedure
