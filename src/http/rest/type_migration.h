// /v1/types/{type}/migration: bringing all stored documents of a type to its current version.
#pragma once

#include "base/status.h"
#include "http/router.h"
#include "typing/mass_migration.h"

namespace sluice::http::rest {

// `migration` outlives the router.
Status AddTypeMigrationRoutes(Router& router, typing::MassMigration& migration);

}  // namespace sluice::http::rest
