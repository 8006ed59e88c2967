// INSERT into a table with ON CONFLICT or REPLACE: if another row has the same unique key, the
// statement skips the new row, updates the other row, or replaces it.
#pragma once

#include <memory>
#include <vector>

#include "db/index.h"
#include "query/exec/writes.h"

namespace sluice::query {

enum class OnConflict : uint8_t { kNothing, kUpdate, kReplace };

struct ConflictOptions {
  PlanPtr input;
  SourceTarget target;
  std::shared_ptr<const WriteProgram> insert;
  OnConflict action = OnConflict::kNothing;
  std::vector<std::shared_ptr<const db::Index>> keys;  // the unique ones that are meant
  // kUpdate: of the present row of the target, which sees the other one as `excluded`.
  std::unique_ptr<WriteProgram> update;
  ExprPtr where;  // may be null
  SourceTarget excluded;
  std::vector<RowCheck> checks;
  ExprPtr returning;  // null: no rows
  Slot slot = 0;
};
// Runs in a transaction.
PlanPtr MakeConflictInsert(ConflictOptions options);

}  // namespace sluice::query
