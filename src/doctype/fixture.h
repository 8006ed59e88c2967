// Migrations tried out on examples, for `types test`: a document before and after.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "doctype/migration_runner.h"
#include "json/value.h"

namespace sluice::doctype {

// A fixture is {"key": "user:1", "before": {...}, "after": {...}}; "to" names another version than
// the current one, "error" the id of the error that is expected instead of "after".
//
// OK if the migration does as it says; fixture.invalid, fixture.different (with what differs), or
// the migration's own error.
Status RunFixture(MigrationRunner& runner, const json::Value& fixture);

}  // namespace sluice::doctype
