// One statement of a client, from its parameters to the last byte of its answer.
//
// Made on the connection's thread, then used by one worker at a time. It is in the list of active
// requests while it lives.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "auth/roles.h"
#include "base/status.h"
#include "net/completion.h"
#include "net/task.h"
#include "query/active_requests.h"
#include "query/engine.h"
#include "query/system_delete.h"
#include "query/transactions.h"
#include "service/query_answer.h"
#include "service/query_parameters.h"
#include "service/query_service.h"

namespace sluice::service {

// Whose statement it is.
struct QueryCaller {
  std::shared_ptr<const auth::Principal> who;
  uint64_t arrival_ns = 0;    // of the request, monotonic
  bool acknowledges = false;  // as in query::RunRequest
  std::shared_ptr<query::Receipts> receipts = nullptr;
};

class QueryStatement {
 public:
  // Error 1191 when too many run.
  static Result<std::shared_ptr<QueryStatement>> Admit(QueryService& service, QueryCaller caller,
                                                       QueryParameters parameters,
                                                       std::unique_ptr<QueryAnswer> answer);
  QueryStatement(QueryService& service, QueryCaller caller, QueryParameters parameters,
                 std::unique_ptr<QueryAnswer> answer);
  ~QueryStatement();

  struct Chunk {
    std::string text;
    uint64_t rows = 0;
    Status refused;  // why it did not come to run; of the first, which is then the last
    bool last = false;
  };
  // What a part of the answer holds at most; at least a row, if it may hold any and there is one.
  struct Limits {
    uint64_t rows = UINT64_MAX;
    size_t bytes = 16 << 10;
    bool first_row_alone = true;  // so that it leaves at once
  };
  Chunk NextChunk(const Limits& limits);
  // The same on a thread of the service's pool, which takes another job when this takes long. The
  // statement ends when its client leaves.
  static net::Task<Result<Chunk>> Next(std::shared_ptr<QueryStatement> statement,
                                       net::Exchange& exchange);

  // Any thread: makes NextChunk come to an end.
  void Cancel() { active_->cancelled->store(true); }

  // After the end: the transaction that its client is in, empty for none.
  const std::string& txid() const { return txid_; }
  // Its first error.
  const Status& failure() const { return failure_; }

 private:
  Chunk NextPart();
  Status Start();
  using PlanPtr = std::shared_ptr<const query::StatementPlan>;
  using Profiling = query::QueryEngine::Profiling;
  query::KeyspaceGuard Guard() const;
  Result<PlanPtr> Prepare(std::string_view text, const query::QueryContext& context,
                          Profiling profiling = Profiling::kOff);
  Result<PlanPtr> FindPlan();
  Result<PlanPtr> FindPrepared(const std::string& name);
  Result<PlanPtr> PrepareAndFind(PlanPtr prepare);
  Status StartSystemDelete(const query::SystemDelete& removal);
  Status CheckDurability() const;
  Status CommitImplicit();
  query::RunRequest MakeRunRequest();
  uint64_t RemainingMs() const;
  Status StartTransactional();
  // Lets go of what others wait for; before the client hears of the end.
  void Release();
  void ReadRows(const Limits& limits, Chunk* chunk);
  void FollowTransaction(const QueryOutcome& outcome);
  // The end: after an error that ended the statement, or after the last row.
  void Finish(const Status& status, Chunk* chunk);
  // Lists it among those that took long or failed.
  void NoteCompleted(const QueryOutcome& outcome);
  json::Value Profile() const;
  json::Value Controls() const;

  QueryService& service_;
  const QueryParameters parameters_;
  const QueryCaller caller_;
  const std::shared_ptr<query::ActiveRequest> active_;
  bool admitted_ = false;
  uint64_t started_ns_ = 0;
  uint64_t planned_ns_ = 0;
  uint64_t running_ns_ = 0;  // inside NextChunk
  std::shared_ptr<const query::StatementPlan> plan_;
  std::optional<query::Transactions::Lease> lease_;
  std::optional<db::Transaction> implicit_;  // of the statement alone; not with lease_
  std::shared_ptr<query::Turn> turn_;        // of NextPart; else null
  std::unique_ptr<query::Run> run_;
  const std::unique_ptr<QueryAnswer> answer_;
  std::string txid_;
  Status failure_;
};

}  // namespace sluice::service
