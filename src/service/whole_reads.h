// For advice: clients that read whole documents without a statement (one by its key, batches,
// scans, feeds) are seen as statements are. Any thread.
#pragma once

#include "db/database.h"
#include "db/types.h"

namespace sluice::service {

void NoteWholeRead(const db::Database& database, db::KeyspaceId keyspace);

}  // namespace sluice::service
