// Transactions of clients that send one statement at a time: BEGIN gives an id under which the
// following statements run, until COMMIT, ROLLBACK or the transaction's time is over.
//
// Concurrency: any thread. One statement at a time uses a transaction, and holds a Lease for that
// time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/locked.h"
#include "base/signal.h"
#include "base/status.h"
#include "base/thread.h"
#include "db/database.h"
#include "db/transaction.h"
#include "query/engine.h"
#include "query/parse/ast.h"

namespace sluice::query {

struct TransactionsOptions {
  size_t max_open = 1000;
  uint64_t timeout_ms = 15'000;         // of one that asks for none
  uint64_t max_timeout_ms = 3'600'000;  // of one that asks for more
};

class Transactions {
 public:
  Transactions(db::Database& database, TransactionsOptions options);
  ~Transactions();

  struct Start {
    uint64_t timeout_ms = 0;  // 0 is the default one
    std::string id;           // that the client has chosen; empty: a new one
    int64_t statement = -1;   // the number of BEGIN; -1: statements have none
  };
  // The id. Error 17001 when too many are open, or one has the id.
  Result<std::string> Begin(const std::string& user, const Start& start);

  class Lease;
  // Errors: 17010 when it does not exist (any more) or is another user's; 17001 when another
  // statement runs in it.
  Result<Lease> Use(const std::string& id, const std::string& user);

  // Ends those whose time is over, except while a statement runs in them. Done once a second too.
  void EndExpired();
  size_t size() const;

 private:
  struct Session {
    Session(db::Database& database, std::string user, uint64_t deadline_ns)
        : transaction(database), user(std::move(user)), deadline_ns(deadline_ns) {
      transaction.set_actor(this->user);
    }
    db::Transaction transaction;
    const std::string user;
    const uint64_t deadline_ns;  // monotonic
    bool busy = false;           // under the lock of open_; the lease owns the rest
    int64_t last_statement = -1;
    std::vector<std::pair<std::string, size_t>> savepoints;
  };
  void Return(const std::string& id, bool ended);
  void RunClock();

  db::Database& database_;
  const TransactionsOptions options_;
  struct Open {
    std::map<std::string, std::shared_ptr<Session>> sessions;  // by id
    bool clock_sleeps = true;                                  // until there is a session
  };
  Locked<Open> open_;
  Signal clock_signal_;
  Thread clock_thread_;
};

// Runs BEGIN (a row with the "txid"), COMMIT, ROLLBACK, SAVEPOINT and so on.
struct TransactionRequest {
  std::string user;
  std::string txid;         // empty for BEGIN
  uint64_t timeout_ms = 0;  // of BEGIN
  std::string new_txid;     // of BEGIN; see Transactions::Start
  std::optional<int64_t> statement_number;
};
Result<std::unique_ptr<Run>> RunTransactionStatement(Transactions& transactions,
                                                     const StatementPlan& plan,
                                                     const TransactionRequest& request);

// Error 17007 if another commit changed something that the transaction read: nothing was written.
Status CommitTransaction(db::Transaction& transaction);

// A statement's exclusive use of a transaction. Call Keep to keep the statement's writes; otherwise
// the destructor undoes them. The Transactions must outlive it.
class Transactions::Lease {
 public:
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&&) = delete;
  ~Lease();

  db::Transaction& transaction() { return session_->transaction; }
  uint64_t RemainingMs() const;
  void Keep() { keep_ = true; }
  // The client counts its statements. Error 17005 for a number that is not above the last one.
  Status Number(int64_t statement);

  // COMMIT, ROLLBACK and savepoints; not BEGIN. Error 17007 when something that was read has
  // changed meanwhile: nothing was written, and the transaction is over.
  Status Run(const TransactionStatement& statement);

 private:
  friend class Transactions;
  Lease(Transactions& owner, std::string id, std::shared_ptr<Session> session)
      : owner_(&owner),
        id_(std::move(id)),
        session_(std::move(session)),
        start_(session_->transaction.Savepoint()) {}

  Status Commit();
  Status RollbackTo(const std::string& name);

  Transactions* owner_;
  const std::string id_;
  std::shared_ptr<Session> session_;
  const size_t start_;
  bool keep_ = false;
  bool ended_ = false;
};

}  // namespace sluice::query
