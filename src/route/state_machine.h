// An external state machine that is kept in a keyspace: a document for each key.
//
// Headers `type` and `key` say what to do: put (the body), get, remove.
#pragma once

#include "db/database.h"
#include "route/task.h"

namespace sluice::route {

TaskMaker MakeStateMachine(db::Database& database, db::KeyspaceName keyspace);

}  // namespace sluice::route
