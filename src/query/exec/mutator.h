// Carries out the writes of a statement: inside a transaction, or each document as a commit of its
// own, many in flight at once so that they share syncs. One thread; committers answer writes
// through Batch (mutator.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "db/commit.h"
#include "db/database.h"
#include "db/transaction.h"

namespace sluice::query {

struct WriteOutcome {
  Status status;
  db::Cas cas = 0;
  // Not OK: the document is not as its type has it, and is stored all the same, or there instead.
  Status violation;
  std::string diverted_to;
};

// A row of a table before and after a write, as it is stored; none where there is no row.
struct RowChange {
  db::KeyspaceId table = 0;
  std::string key;
  std::optional<std::string> before;
  std::optional<std::string> after;
};

class Mutator {
 public:
  // `transaction` may be null. Writes in the transaction are recorded in `changes`, if that is not
  // null. `actor` is Commit::actor of writes outside of a transaction.
  Mutator(db::Database& database, db::Transaction* transaction,
          std::vector<RowChange>* changes = nullptr, std::string actor = {})
      : database_(database),
        transaction_(transaction),
        changes_(changes),
        actor_(std::move(actor)) {}

  // Waits until all are durable (or in the transaction). One outcome each.
  std::vector<WriteOutcome> Apply(std::vector<db::Write> writes);
  db::Database& database() { return database_; }
  bool in_transaction() const { return transaction_ != nullptr; }
  // The bytes of the transaction's writes, also of earlier statements; 0 without a transaction.
  size_t transaction_bytes() const { return transaction_ == nullptr ? 0 : transaction_->bytes(); }

  void Count() { ++mutations_; }
  uint64_t mutations() const { return mutations_; }
  // A document's error that does not end the statement.
  void AddError(Status status);
  const std::vector<Status>& errors() const { return errors_; }

 private:
  static constexpr size_t kMaxErrors = 100;
  WriteOutcome ApplyInTransaction(db::Write write);

  db::Database& database_;
  Status Note(const db::Write& write);

  db::Transaction* const transaction_;
  std::vector<RowChange>* const changes_;
  const std::string actor_;
  uint64_t mutations_ = 0;
  std::vector<Status> errors_;
};

}  // namespace sluice::query
