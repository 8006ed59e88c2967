// /v1/types/{type}/migration: bringing all stored documents of a type to its current version.
#pragma once

#include "base/status.h"
#include "doctype_db/mass_migration.h"
#include "http/router.h"

namespace sluice::http::rest {

// `migration` outlives the router.
Status AddTypeMigrationRoutes(Router& router, doctype_db::MassMigration& migration);

}  // namespace sluice::http::rest
