// Whether everything that a function's definition names exists.
#pragma once

#include "base/status.h"
#include "db/catalog.h"
#include "function/definition.h"

namespace sluice::function {

// The source, the metadata keyspace, the keyspaces of bindings (of a wildcard, what it names) and
// the function's scope. The error is the catalog's: bucket.not_found and so on, and says what the
// keyspace is to the function.
Status CheckKeyspaces(const Definition& definition, const db::Catalog& catalog);

}  // namespace sluice::function
