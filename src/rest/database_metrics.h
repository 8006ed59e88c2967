// The database's part of /metrics.
#pragma once

#include <string>

#include "db/database.h"

namespace sluice::rest {

// Reads cursors from the store: on a worker.
void AppendDatabaseMetrics(const db::Database& database, std::string* out);

}  // namespace sluice::rest
