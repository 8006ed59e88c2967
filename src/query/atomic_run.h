// Runs statements that write to tables: they write everything or nothing, with the changes that
// follow from foreign keys. Outside of a transaction a statement is a transaction of its own, and
// runs again from the start after a conflict with another commit.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "db/transaction.h"
#include "query/engine.h"
#include "query/exec/mutator.h"

namespace sluice::query {

// Makes the run inside a transaction. The rows that it writes are noted in `changes`, if that is
// not null.
using RunMaker = std::function<Result<std::unique_ptr<Run>>(db::Transaction& transaction,
                                                            std::vector<RowChange>* changes)>;

struct AtomicRunOptions {
  db::Transaction* transaction = nullptr;  // the one that it is in; null: its own
  bool references = false;                 // foreign keys have to be kept
};

// The whole statement runs at the first Next; its rows are kept and returned one by one.
std::unique_ptr<Run> MakeAtomicRun(QueryEngine& engine, AtomicRunOptions options, RunMaker make);

}  // namespace sluice::query
