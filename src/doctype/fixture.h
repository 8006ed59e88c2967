// Migrations tried out on examples, for `types test`: a document before and after.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "doctype/migration_runner.h"
#include "json/value.h"

namespace sluice::doctype {

// A fixture is {"key": "user:1", "before": {...}, "after": {...}}; "to" names a version other than
// the current one, "error" the id of the expected error instead of "after".
//
// OK if the migration gives the expected result; otherwise fixture.invalid, fixture.different (with
// the differences), or the migration's own error.
Status RunFixture(MigrationRunner& runner, const json::Value& fixture);

}  // namespace sluice::doctype
