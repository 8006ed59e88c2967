#include "query/transactions.h"

#include <algorithm>
#include <chrono>

#include "base/random.h"
#include "query/error.h"
#include "query/run.h"

namespace sluice::query {
namespace {

constexpr uint64_t kNsPerMs = 1'000'000;
constexpr auto kLookInterval = std::chrono::seconds(1);

std::unexpected<Status> NoSuchTransaction(const std::string& id) {
  return QueryFail(QueryCode::kTransactionNotFound,
                   "there is no transaction '{}': it has ended or its time is over", id);
}

}  // namespace

Transactions::Transactions(db::Database& database, TransactionsOptions options)
    : database_(database),
      options_(options),
      clock_signal_(database.clock()),
      clock_thread_({"tx clock"}, [this] { RunClock(); }) {}

Transactions::~Transactions() {
  clock_signal_.Close();
  clock_thread_.join();
}

Result<std::string> Transactions::Begin(const std::string& user, const Start& start) {
  EndExpired();
  const uint64_t timeout_ms = std::min(
      start.timeout_ms == 0 ? options_.timeout_ms : start.timeout_ms, options_.max_timeout_ms);
  const uint64_t deadline = database_.clock().MonotonicNs() + timeout_ms * kNsPerMs;
  auto session = std::make_shared<Session>(database_, user, deadline);
  session->last_statement = start.statement;
  std::string id = start.id.empty() ? NewUuid() : start.id;
  bool clock_sleeps = false;
  {
    const auto open = open_.Lock();
    if (open->sessions.size() >= options_.max_open) {
      return QueryFail(QueryCode::kTransaction, "{} transactions are open, the most there may be",
                       open->sessions.size());
    }
    if (!open->sessions.emplace(id, session).second) {
      return QueryFail(QueryCode::kTransaction, "there is a transaction '{}' already", id);
    }
    clock_sleeps = std::exchange(open->clock_sleeps, false);
  }
  if (clock_sleeps) clock_signal_.Wake();
  return id;
}

Result<Transactions::Lease> Transactions::Use(const std::string& id, const std::string& user) {
  EndExpired();
  std::shared_ptr<Session> session;
  {
    const auto open = open_.Lock();
    const auto found = open->sessions.find(id);
    if (found == open->sessions.end() || found->second->user != user) return NoSuchTransaction(id);
    if (std::exchange(found->second->busy, true)) {
      return QueryFail(QueryCode::kTransaction, "another statement of transaction '{}' is running",
                       id);
    }
    session = found->second;
  }
  return Lease(*this, id, std::move(session));
}

void Transactions::EndExpired() {
  std::vector<std::shared_ptr<Session>> ended;  // destroyed outside the lock
  const uint64_t now = database_.clock().MonotonicNs();
  const auto open = open_.Lock();
  std::erase_if(open->sessions, [&](auto& entry) {
    if (entry.second->busy || entry.second->deadline_ns > now) return false;
    ended.push_back(std::move(entry.second));
    return true;
  });
}

size_t Transactions::size() const { return open_.Lock()->sessions.size(); }

void Transactions::Return(const std::string& id, bool ended) {
  const auto open = open_.Lock();
  const auto found = open->sessions.find(id);
  if (found == open->sessions.end()) return;
  found->second->busy = false;
  if (ended) open->sessions.erase(found);
}

// A transaction that its client has abandoned still holds a snapshot, so it must be ended.
void Transactions::RunClock() {
  while (true) {
    const uint64_t seen = clock_signal_.news();
    Signal::Deadline next_look = database_.clock().Now() + kLookInterval;
    {
      const auto open = open_.Lock();
      open->clock_sleeps = open->sessions.empty();
      if (open->clock_sleeps) next_look.reset();
    }
    if (clock_signal_.Wait(seen, next_look) == Signal::Waited::kClosed) return;
    EndExpired();
  }
}

Transactions::Lease::Lease(Lease&& other) noexcept
    : owner_(std::exchange(other.owner_, nullptr)),
      id_(other.id_),
      session_(std::move(other.session_)),
      start_(other.start_),
      keep_(other.keep_),
      ended_(other.ended_) {}

Transactions::Lease::~Lease() {
  if (owner_ == nullptr) return;
  if (!keep_ && !ended_) session_->transaction.RollbackTo(start_);
  owner_->Return(id_, ended_);
}

uint64_t Transactions::Lease::RemainingMs() const {
  const uint64_t now = owner_->database_.clock().MonotonicNs();
  return session_->deadline_ns > now
             ? std::max<uint64_t>((session_->deadline_ns - now) / kNsPerMs, 1)
             : 1;
}

Status Transactions::Lease::Run(const TransactionStatement& statement) {
  using Action = TransactionStatement::Action;
  keep_ = true;
  switch (statement.action) {
    case Action::kBegin:
      return QueryError(QueryCode::kTransaction, "the transaction has begun already");
    case Action::kCommit:
      return Commit();
    case Action::kRollback:
      ended_ = true;
      return OkStatus();
    case Action::kSavepoint:
      std::erase_if(session_->savepoints,
                    [&](const auto& known) { return known.first == statement.savepoint; });
      session_->savepoints.emplace_back(statement.savepoint, session_->transaction.Savepoint());
      return OkStatus();
    case Action::kRollbackTo:
      return RollbackTo(statement.savepoint);
    case Action::kSet:  // there is only one isolation level
      return OkStatus();
  }
  return OkStatus();
}

Status Transactions::Lease::Number(int64_t statement) {
  if (statement <= session_->last_statement) {
    return QueryError(QueryCode::kTransactionOrder,
                      "statement {} of transaction '{}' comes after number {}: numbers grow",
                      statement, id_, session_->last_statement);
  }
  session_->last_statement = statement;
  return OkStatus();
}

Status Transactions::Lease::Commit() {
  ended_ = true;
  return CommitTransaction(session_->transaction);
}

Status CommitTransaction(db::Transaction& transaction) {
  const Status status = transaction.Apply().status;
  if (status.code() != Code::kConflict) return TableError(status);
  return QueryError(QueryCode::kCommitConflict,
                    "somebody else changed data that the transaction read, so nothing was written: "
                    "run it again from BEGIN");
}

// Later savepoints end, together with the writes after them.
Status Transactions::Lease::RollbackTo(const std::string& name) {
  auto& savepoints = session_->savepoints;
  const auto found =
      std::ranges::find(savepoints, name, [](const auto& known) { return known.first; });
  if (found == savepoints.end()) {
    return QueryError(QueryCode::kTransaction, "the transaction has no savepoint '{}'", name);
  }
  session_->transaction.RollbackTo(found->second);
  savepoints.erase(found + 1, savepoints.end());
  return OkStatus();
}

Result<std::unique_ptr<Run>> RunTransactionStatement(Transactions& transactions,
                                                     const StatementPlan& plan,
                                                     const TransactionRequest& request) {
  const auto& statement = std::get<TransactionStatement>(plan.statement->body);
  if (statement.action == TransactionStatement::Action::kBegin && request.txid.empty()) {
    const Transactions::Start start{.timeout_ms = request.timeout_ms,
                                    .id = request.new_txid,
                                    .statement = request.statement_number.value_or(-1)};
    ASSIGN_OR_RETURN(const std::string id, transactions.Begin(request.user, start));
    return MakeRowsRun({Value::Object({{"txid", Value(id)}})});
  }
  if (request.txid.empty()) {
    return QueryFail(QueryCode::kTransaction,
                     "the request has no 'txid': send the one that BEGIN gave");
  }
  ASSIGN_OR_RETURN(Transactions::Lease lease, transactions.Use(request.txid, request.user));
  if (request.statement_number) RETURN_IF_ERROR(lease.Number(*request.statement_number));
  RETURN_IF_ERROR(lease.Run(statement));
  return MakeRowsRun({});
}

}  // namespace sluice::query
