// /v1/types/{type}/migration: bringing all stored documents of a type to its current version.
#pragma once

#include "base/status.h"
#include "doctype_db/mass_migration.h"
#include "rest/http_types.h"

namespace sluice::rest {

// `migration` outlives the router.
Status AddTypeMigrationRoutes(Router& router, doctype_db::MassMigration& migration);

}  // namespace sluice::rest
