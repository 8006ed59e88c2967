// INSERT, UPSERT, UPDATE, DELETE and MERGE: each row of the input becomes a write; RETURNING sees
// the document as it was written (deleted).
//
// Outside a transaction every document commits by itself, in batches that share syncs. A document
// that another commit changed since it was read is read, checked and written again. If a document
// can't be written, this is reported and the statement continues with the others.
//
// Programs are immutable and shared by all runs of a plan.
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
// For tables (table_writes.cc): an array with a value for each column; assignments to columns.
struct TableInsertParts {
  SourceTarget target;
  std::shared_ptr<const db::TableSchema> schema;
  ExprPtr values;
};
std::unique_ptr<WriteProgram> MakeTableInsertProgram(TableInsertParts parts);
std::unique_ptr<WriteProgram> MakeTableUpdateProgram(UpdateParts parts,
                                                     std::shared_ptr<const db::TableSchema> schema);
std::unique_ptr<WriteProgram> MakeDeleteProgram(SourceTarget target);

// The actions for an existing and for a missing target document. Each may be null.
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

// A CHECK of a table: a condition that must not be false for a written row.
struct RowCheck {
  std::string name;
  ExprPtr condition;
};

// Shared by the writing operators (write.cc). Each returns false if the run has failed. The
// conditions see the new row.
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
  // The condition to check on a document that is read again; LETs are computed again before it.
  ExprPtr recheck;
  std::vector<SlotAssignment> lets;
  std::vector<RowCheck> checks;
  ExprPtr returning;  // null: no rows
  Slot slot = 0;
  const Layout* layout = nullptr;
  bool each_once = false;  // MERGE: a document may be written once
  // MERGE: the variables that RETURNING of an inserted row does not see.
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
