// Runs of statements that write to tables: all of what they write or nothing, and what follows from
// it by foreign keys. Outside of a transaction they are one, and run again from the start when
// another commit got in between.
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

// The statement runs at the first Next; its rows are handed out after it.
std::unique_ptr<Run> MakeAtomicRun(QueryEngine& engine, AtomicRunOptions options, RunMaker make);

}  // namespace sluice::query
