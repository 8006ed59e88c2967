// Foreign keys: checks them after a statement has written rows of tables, and makes the changes
// that follow in other tables (ON DELETE and ON UPDATE), inside the statement's transaction.
#pragma once

#include <vector>

#include "base/status.h"
#include "db/catalog.h"
#include "db/transaction.h"
#include "query/engine.h"
#include "query/exec/mutator.h"

namespace sluice::query {

// Whether a table has foreign keys or foreign keys of others refer to it.
bool HasReferences(const db::Catalog& catalog, const db::KeyspaceInfo& table);

// Cascades the changes, then checks that every row refers to an existing one. Error 19003.
Status KeepReferences(QueryEngine& engine, db::Transaction& transaction,
                      std::vector<RowChange> changes);

// Checks that the tables and columns of foreign keys exist and have a unique key. In Comdb2 any key
// of these columns is enough.
Status CheckReferences(const db::Catalog& catalog, const db::TableSchema& schema,
                       Dialect dialect = Dialect::kSqlpp);

// Foreign keys of csc2 name a key of the other table, as ":KEY": these are its columns.
Status ResolveKeyNames(const db::Catalog& catalog, db::TableSchema* schema);

}  // namespace sluice::query
