// INSERT, UPSERT, UPDATE, DELETE and MERGE: each row of the input becomes a write; RETURNING sees
// the document as it was written (deleted).
//
// Outside a transaction every document commits by itself, in batches that share syncs. One that
// somebody else changed since it was read is read again, checked again and written again. A
// document that can't be written is reported and the others go on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/commit.h"
#include "query/exec/expr.h"
#include "query/exec/operator.h"
#include "query/exec/row_keeper.h"
#include "query/exec/scans.h"
#include "query/exec/steps.h"
#include "query/exec/update_program.h"

namespace sluice::query {

// Makes the write of the present row.
class WriteProgram {
 public:
  virtual ~WriteProgram() = default;
  // Nothing when the row needs none, or when the run has failed.
  virtual std::optional<db::Write> Make(Context& context) const = 0;
  // "Insert", ... for EXPLAIN.
  virtual std::string_view name() const = 0;
};

struct InsertParts {
  SourceTarget target;
  bool upsert = false;
  ExprPtr key;
  ExprPtr value;
  ExprPtr options;  // may be null
};
std::unique_ptr<WriteProgram> MakeInsertProgram(InsertParts parts);

struct UpdateParts {
  SourceTarget target;
  ExprPtr document;
  std::vector<UpdateAssignment> assignments;
};
std::unique_ptr<WriteProgram> MakeUpdateProgram(UpdateParts parts);
// Of tables (table_writes.cc): an array with a value for each column; assignments to columns.
struct TableInsertParts {
  SourceTarget target;
  std::shared_ptr<const db::TableSchema> schema;
  ExprPtr values;
};
std::unique_ptr<WriteProgram> MakeTableInsertProgram(TableInsertParts parts);
std::unique_ptr<WriteProgram> MakeTableUpdateProgram(UpdateParts parts,
                                                     std::shared_ptr<const db::TableSchema> schema);
std::unique_ptr<WriteProgram> MakeDeleteProgram(SourceTarget target);

// By whether the target's document is there. Each may be null.
struct MergeParts {
  SourceTarget target;
  std::unique_ptr<WriteProgram> update;
  ExprPtr update_where;
  std::unique_ptr<WriteProgram> remove;
  ExprPtr remove_where;
  std::unique_ptr<WriteProgram> insert;
  ExprPtr insert_where;
};
std::unique_ptr<WriteProgram> MakeMergeProgram(MergeParts parts);

// A CHECK of a table: what must not be false of a row that is written.
struct RowCheck {
  std::string name;
  ExprPtr condition;
};

// What the writing operators share (write.cc). Each is false when the run has failed.
// The conditions see the row as it will be.
bool MeetsChecks(Context& context, const SourceTarget& target, const std::vector<RowCheck>& checks,
                 const db::Write& write);
// Whether the transaction's writes are within the limit.
bool FitsMemory(Context& context);
db::Write CopyOf(const db::Write& write);

struct WriteOptions {
  PlanPtr input;
  RowVariables variables;  // of the input
  SourceTarget target;
  std::shared_ptr<const WriteProgram> program;
  // What must hold of a document that is read again; LETs are computed again before.
  ExprPtr recheck;
  std::vector<SlotAssignment> lets;
  std::vector<RowCheck> checks;
  ExprPtr returning;  // null: no rows
  Slot slot = 0;
  const Layout* layout = nullptr;
  bool each_once = false;  // MERGE: a document may be written once
  // MERGE: what RETURNING does not see of a row that was inserted.
  RowVariables not_of_inserted;
};
PlanPtr MakeWrite(WriteOptions options);

// The rows of VALUES: key, value and options into slots.
struct ValuesRow {
  ExprPtr key;  // null for a row of a table
  ExprPtr value;
  ExprPtr options;  // may be null
};
PlanPtr MakeValues(std::vector<ValuesRow> rows, Slot key, Slot value, Slot options);

}  // namespace sluice::query
