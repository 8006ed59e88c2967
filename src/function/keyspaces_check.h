// Checks that the keyspaces that a function's definition names exist.
#pragma once

#include "base/status.h"
#include "db/catalog.h"
#include "function/definition.h"

namespace sluice::function {

// Looks for the source, the metadata keyspace, the keyspaces of bindings (for a wildcard, the
// bucket and scope that it names) and the function's scope. The error has the catalog's id, such as
// bucket.not_found, and says what the function uses the keyspace for.
Status CheckKeyspaces(const Definition& definition, const db::Catalog& catalog);

}  // namespace sluice::function
