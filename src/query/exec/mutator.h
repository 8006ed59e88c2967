// Carries out the writes of a statement: inside a transaction, or each document as a commit of its
// own, many in flight at once so that they share syncs.
#pragma once

#include <cstdint>
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
};

class Mutator {
 public:
  // `transaction` may be null.
  Mutator(db::Database& database, db::Transaction* transaction)
      : database_(database), transaction_(transaction) {}

  // Waits until all are durable (or in the transaction). One outcome each.
  std::vector<WriteOutcome> Apply(std::vector<db::Write> writes);
  db::Database& database() { return database_; }
  bool in_transaction() const { return transaction_ != nullptr; }
  // What the transaction's writes take, those of earlier statements too; 0 without one.
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
  db::Transaction* const transaction_;
  uint64_t mutations_ = 0;
  std::vector<Status> errors_;
};

}  // namespace sluice::query
