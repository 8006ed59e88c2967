// An external state machine that is kept in a keyspace: a document for each key.
//
// Headers `type` and `key` say what to do: put (the body), get, remove.
#pragma once

#include "db/database.h"
#include "flow_engine/task.h"

namespace sluice::flow_engine {

TaskMaker MakeStateMachine(db::Database& database, db::KeyspaceName keyspace);

}  // namespace sluice::flow_engine
