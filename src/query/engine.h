// The query engine: the interface of this module for the rest of the server. Prepare once, bind,
// iterate, close.
//
//   auto prepared = engine.Prepare("SELECT name FROM users USE KEYS $1", {});
//   auto run = engine.Execute(*prepared, {.positional = {Value("u1")}});
//   while ((*run)->Next()) use((*run)->row());
//   if (!(*run)->status().ok()) ...
//
// Prepare parses, binds and plans: do it once and keep the plan, which any number of runs share.
// Execute binds the parameters and reads nothing. The first Next opens the plan; a row is valid
// until the following Next. To close a run, destroy it; you may do so before its end.
//
// A SELECT reads the database as of its first Next, a statement that writes as of Execute, and a
// statement in a transaction as the transaction sees it. An open run holds the versions of that
// moment in the store, and the blocks that it reads, so don't keep a run open while you wait for a
// client.
//
// Lifetimes: a run keeps its plan; it must end before the engine, the database and the transaction.
// Concurrency: the engine and prepared statements may be used from any thread, a run belongs to
// one.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/locked.h"
#include "base/status.h"
#include "db/database.h"
#include "db/transaction.h"
#include "json/value.h"
#include "query/bind/binder.h"
#include "query/error.h"
#include "query/exec/thread_budget.h"
#include "query/procedures.h"
#include "query/receipts.h"
#include "query/statement_plan.h"

namespace sluice::query {

class Turn;

struct EngineOptions {
  size_t memory_limit_bytes = 512ull << 20;  // of one statement
  size_t max_named_prepared = 16'384;
  size_t threads = 0;  // of all divided scans together; 0: as many as there are cores
  std::string version;
};

// How one run differs from another of the same statement.
struct RunRequest {
  std::vector<Value> positional;
  std::map<std::string, Value> named;
  uint64_t timeout_ms = 0;  // 0: none
  bool read_only = false;
  // The caller promises to call Next only when its client asks for the next row, so that a call
  // acknowledges the row before. Consumers need this.
  bool acknowledges = false;
  // If not null, rows are acknowledged here instead, and the caller may pull rows ahead.
  std::shared_ptr<Receipts> receipts;
  std::string user;
  std::string time_zone;  // of datetimes in procedures; empty: UTC
  // The versions of procedures that do not run their default version: a string or a number.
  std::map<std::string, Value> procedure_versions;
  // Reads and writes inside it; else one snapshot, and each written document commits by itself.
  db::Transaction* transaction = nullptr;
  // Set from any thread to end the run.
  std::shared_ptr<std::atomic<bool>> cancelled;
  // Makes the run wait when too many others take long; may be null.
  std::shared_ptr<Turn> turn;
  // Documents that are written keep their expiry unless the statement sets one.
  bool preserve_expiry = false;
  uint32_t memory_limit_mib = 0;  // less than the engine's; 0: that one
  // The most threads that may read at the same time where a scan can be divided; 0: as many as the
  // engine has. In a transaction it is always one.
  size_t max_parallelism = 0;
  std::function<Result<std::vector<Value>>(std::string_view name)> system_rows;
  // Decides whether the user may run a statement. It is called for each statement, also for those
  // inside EXECUTE, PREPARE and EXPLAIN. Without it everything is allowed.
  std::function<Status(const StatementPlan& plan)> authorize;
  // Of the same, when they are planned.
  KeyspaceGuard guard;
};

class Run {
 public:
  virtual ~Run() = default;
  // False at the end or on error.
  virtual bool Next() = 0;
  virtual const Value& row() const = 0;
  // Whether the next Next would wait for a procedure to emit a row. Then send the rows that you
  // have first.
  virtual bool NextWaits() const { return false; }
  virtual Status status() const = 0;
  // Errors of single documents: the statement went on.
  virtual const std::vector<Status>& row_errors() const = 0;
  virtual const std::vector<Warning>& warnings() const = 0;
  virtual uint64_t mutations() const = 0;
  // Rows that ORDER BY has put in order.
  virtual uint64_t sorted() const = 0;
  // Types of columns that a procedure has set, which the values do not show. Known after the first
  // row.
  virtual std::map<std::string, db::ColumnType, std::less<>> column_types() const { return {}; }
  // The plan with the counts of each operator so far; MISSING unless the plan is profiled.
  virtual Value profile() const = 0;
};

// A prepared statement as PREPARE returns it and system:prepareds lists it.
Value DescribePrepared(const std::string& name, const StatementPlan& plan);

class QueryEngine {
 public:
  QueryEngine(db::Database& database, EngineOptions options);
  ~QueryEngine();

  // Runs of a profiled plan count the work of each operator (Run::profile).
  enum class Profiling : uint8_t { kOff, kOn };
  Result<std::shared_ptr<const StatementPlan>> Prepare(std::string_view text,
                                                       const QueryContext& context,
                                                       Profiling profiling = Profiling::kOff,
                                                       const KeyspaceGuard& guard = nullptr);
  // Plans again when what the plan rests on (indexes, collections) has changed.
  Result<std::unique_ptr<Run>> Execute(std::shared_ptr<const StatementPlan> plan,
                                       RunRequest request);
  // Both at once.
  Result<std::unique_ptr<Run>> Query(std::string_view text, const QueryContext& context,
                                     RunRequest request);

  // PREPARE name FROM ...: kept by name until they are deleted.
  // One that names a keyspace which the guard refuses is as good as none.
  Result<std::shared_ptr<const StatementPlan>> FindNamed(const std::string& name,
                                                         const KeyspaceGuard& guard = nullptr);
  // A name belongs to the user who gave it: nobody else gives it another text.
  Status Name(const std::string& name, std::shared_ptr<const StatementPlan> plan,
              const std::string& user, bool force);
  bool DeleteNamed(const std::string& name);
  std::vector<std::pair<std::string, std::shared_ptr<const StatementPlan>>> Named() const;

  db::Database& database() const { return database_; }
  const EngineOptions& options() const { return options_; }
  ThreadBudget& threads() { return threads_; }
  // The implementation of statements about procedures; may be null. Set it before the first such
  // statement.
  Procedures* procedures() const { return procedures_; }
  void SetProcedures(Procedures* procedures) { procedures_ = procedures; }
  // The user-defined functions.
  std::shared_ptr<const UserFunctionTable> Functions() const;
  // The most threads that a run with this request may have.
  size_t ParallelismOf(const RunRequest& request) const;

 private:
  db::Database& database_;
  const EngineOptions options_;
  ThreadBudget threads_;  // beside those that call
  Procedures* procedures_ = nullptr;
  struct NamedPlan {
    std::shared_ptr<const StatementPlan> plan;
    std::string user;
  };
  Locked<std::map<std::string, NamedPlan>> named_;  // by name
};

}  // namespace sluice::query
