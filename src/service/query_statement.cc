#include "service/query_statement.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "net/run_blocking.h"
#include "query/encoded_plan.h"
#include "query/error.h"
#include "query/system_rows.h"
#include "query/system_tables.h"
#include "service/authorization.h"

namespace sluice::service {
namespace {

using json::Value;
using query::QueryCode;
using query::StatementKind;
using query::StatementPlan;

// Rows that come slowly are not kept waiting for others.
constexpr uint64_t kFlushNs = 20'000'000;
constexpr uint64_t kNever = UINT64_MAX;

std::shared_ptr<query::ActiveRequest> Describe(const QueryParameters& parameters,
                                               const auth::Principal& who, std::string id,
                                               uint64_t now_ms) {
  auto active = std::make_shared<query::ActiveRequest>();
  active->id = std::move(id);
  active->client_context_id = parameters.client_context_id;
  active->user = who.user;
  active->statement =
      parameters.statement.empty() ? "EXECUTE " + parameters.prepared : parameters.statement;
  active->started_ms = now_ms;
  return active;
}

Value Sorted(const Value& row) {
  if (!row.is_object()) return row;
  Value sorted = Value::EmptyObject();
  for (const json::Field* field : json::SortedFields(row)) sorted.Set(field->name(), field->value);
  return sorted;
}

// Client libraries that begin a transaction with key-value writes hand it over with BEGIN. Such
// writes can't be taken over; what has none begins here, under the client's id.
Status ReadTransactionData(const Value& data, query::TransactionRequest* request) {
  if (data["mutations"].is_array() && data["mutations"].size() > 0) {
    return query::QueryError(QueryCode::kTransaction,
                             "parameter 'txdata': key-value writes of a client library's "
                             "transaction can't be taken over; begin with a statement");
  }
  if (data["id"]["atmpt"].is_string()) request->new_txid = data["id"]["atmpt"].AsString();
  const Value left = data["state"]["timeLeftMs"];
  if (request->timeout_ms == 0 && left.is_int() && left.AsInt() > 0) {
    request->timeout_ms = static_cast<uint64_t>(left.AsInt());
  }
  return OkStatus();
}

Value UserRow(const std::string& user, const auth::Grants& grants) {
  Value roles = Value::EmptyArray();
  for (const auth::Grant& grant : grants) {
    Value role = Value::Object({{"role", Value(auth::RoleName(grant.role))}});
    if (grant.role != auth::Role::kAdmin) role.Set("bucket_name", Value(grant.bucket));
    roles.Append(std::move(role));
  }
  return Value::Object({{"domain", Value("local")},
                        {"id", Value(user)},
                        {"name", Value(user)},
                        {"roles", std::move(roles)}});
}

// All of them for admins; others see themselves.
std::vector<Value> UserRows(const QueryService& service, const auth::Principal& who) {
  if (!who.Allows(auth::Permission::kAdmin, "") || service.options.accounts == nullptr) {
    return {UserRow(who.user, who.grants)};
  }
  std::vector<Value> rows;
  const auth::Accounts accounts = service.options.accounts();
  for (const auto& [name, user] : accounts.users) rows.push_back(UserRow(name, user->grants));
  return rows;
}

// Rows of comdb2_tables and its like for users who may read tables, and of comdb2_triggers for
// those who may read what the trigger stands on. Procedures and queues reach all data: users who
// may read all of it see them, admins see their source, too.
std::vector<Value> Visible(std::string_view name, std::vector<Value> rows,
                           const db::Catalog& catalog, const auth::Principal& who) {
  constexpr std::string_view kOfCode[] = {"comdb2_procedures", "comdb2_queues"};
  const auto is = [&](std::string_view other) { return EqualsIgnoreCase(name, other); };
  if (who.Allows(auth::Permission::kAdmin, "") || is("comdb2_functions")) return rows;
  if (is("comdb2_triggers")) {
    std::erase_if(rows, [&](const Value& row) {
      const std::string on(row["tbl_name"].AsString());
      return !who.Allows(auth::Permission::kRead, catalog.FindTable(on) != nullptr
                                                      ? std::string(db::kTablesBucket)
                                                      : on.substr(0, on.find('.')));
    });
    return rows;
  }
  const bool of_code = std::ranges::any_of(kOfCode, is);
  if (!who.Allows(auth::Permission::kRead, of_code ? auth::kEveryBucket : db::kTablesBucket)) {
    return {};
  }
  if (of_code) {
    for (Value& row : rows) row.Remove("src");
  }
  return rows;
}

Result<std::vector<Value>> ReadSystemRows(const QueryService& service, const auth::Principal& who,
                                          std::string_view name) {
  const auto catalog = service.engine.database().catalog();
  if (auto rows = query::SystemTableRows(*catalog, service.engine.procedures(), name)) {
    return Visible(name, std::move(*rows), *catalog, who);
  }
  const query::SystemView view{
      .engine = service.engine,
      .active = service.active,
      .completed = service.completed,
      .now_ms = service.clock.WallMs(),
      .sees_bucket = [&](auto bucket) { return who.Allows(auth::Permission::kRead, bucket); },
      .sees_request = [&](const auto& user) { return MaySeeRequest(who, user); },
      .me = UserRow(who.user, who.grants),
      .users = UserRows(service, who),
      .node = service.options.node == nullptr ? Value::EmptyObject() : service.options.node()};
  return query::SystemRows(view, name);
}

}  // namespace

Result<std::shared_ptr<QueryStatement>> QueryStatement::Admit(QueryService& service,
                                                              QueryCaller caller,
                                                              QueryParameters parameters,
                                                              std::unique_ptr<QueryAnswer> answer) {
  if (parameters.cdb2_rows) parameters.context.dialect = query::Dialect::kComdb2;
  auto statement = std::make_shared<QueryStatement>(service, std::move(caller),
                                                    std::move(parameters), std::move(answer));
  RETURN_IF_ERROR(service.active.Add(statement->active_));
  statement->admitted_ = true;
  return statement;
}

QueryStatement::QueryStatement(QueryService& service, QueryCaller caller,
                               QueryParameters parameters, std::unique_ptr<QueryAnswer> answer)
    : service_(service),
      parameters_(std::move(parameters)),
      caller_(std::move(caller)),
      active_(Describe(parameters_, *caller_.who, answer->request_id(), service.clock.WallMs())),
      answer_(std::move(answer)),
      txid_(parameters_.txid) {}

QueryStatement::~QueryStatement() { Release(); }

void QueryStatement::Release() {
  run_.reset();
  lease_.reset();
  implicit_.reset();
  if (std::exchange(admitted_, false)) service_.active.Remove(active_->id);
}

QueryStatement::Chunk QueryStatement::NextChunk(const Limits& limits) {
  const uint64_t now = service_.clock.MonotonicNs();
  Chunk chunk;
  answer_->Open(&chunk.text);
  if (run_ == nullptr) {
    started_ns_ = now;
    const Status started = Start();
    if (!started.ok()) {
      Finish(started, &chunk);
      answer_->Close(&chunk.text);
      return chunk;
    }
  }
  ReadRows(limits, &chunk);
  answer_->Close(&chunk.text);
  running_ns_ += service_.clock.MonotonicNs() - now;
  return chunk;
}

QueryStatement::Chunk QueryStatement::NextPart() {
  if (turn_ == nullptr) turn_ = std::make_shared<query::Turn>(service_.turns);
  turn_->Begin();
  Chunk chunk = NextChunk({});
  turn_->End();
  return chunk;
}

// The pool takes as many jobs as there may be statements, and each has one.
net::Task<Result<QueryStatement::Chunk>> QueryStatement::Next(
    std::shared_ptr<QueryStatement> statement, net::Exchange& exchange) {
  net::Completion<Chunk> done(exchange);
  const bool taken =
      statement->service_.workers.Post([statement, done] { done.Complete(statement->NextPart()); });
  if (!taken) co_return Unexpected(net::OverloadedError());
  Result<Chunk> chunk = co_await done;
  if (!chunk) statement->Cancel();
  co_return chunk;
}

Status QueryStatement::Start() {
  RETURN_IF_ERROR(CheckDurability());
  ASSIGN_OR_RETURN(const auto removal, query::AsSystemDelete(parameters_.statement));
  if (removal) return StartSystemDelete(*removal);
  ASSIGN_OR_RETURN(plan_, FindPlan());
  planned_ns_ = service_.clock.MonotonicNs();
  if (plan_->kind == StatementKind::kTransaction) return StartTransactional();
  if (parameters_.transaction_timeout_ms && !parameters_.implicit_transaction) {
    return query::QueryError(QueryCode::kBadParameter,
                             "parameter 'txtimeout' belongs to BEGIN, or to 'tximplicit'");
  }
  if (!parameters_.txid.empty()) {
    ASSIGN_OR_RETURN(query::Transactions::Lease lease,
                     service_.transactions.Use(parameters_.txid, active_->user));
    lease_.emplace(std::move(lease));
    if (parameters_.transaction_statement) {
      RETURN_IF_ERROR(lease_->Number(*parameters_.transaction_statement));
    }
  } else if (parameters_.implicit_transaction) {
    implicit_.emplace(service_.engine.database());
    implicit_->set_actor(active_->user);
  }
  if (parameters_.cdb2_rows) {
    answer_->SetColumnTypes(query::Cdb2TypesOf(plan_->text, *service_.engine.database().catalog()));
  }
  ASSIGN_OR_RETURN(run_, service_.engine.Execute(plan_, MakeRunRequest()));
  return OkStatus();
}

// Deletes only rows that the sender can see: those that the SELECT finds.
Status QueryStatement::StartSystemDelete(const query::SystemDelete& removal) {
  if (parameters_.read_only) {
    return query::QueryError(QueryCode::kReadOnly, "DELETE can't run in a read-only request");
  }
  const auth::Principal& who = *caller_.who;
  if (removal.keyspace == "prepareds" &&
      !who.Allows(auth::Permission::kAdmin, auth::kEveryBucket)) {
    return query::QueryError(QueryCode::kForbidden,
                             "User does not have credentials: '{}' is not an admin, and only "
                             "admins have prepared statements forgotten",
                             who.user);
  }
  ASSIGN_OR_RETURN(plan_, Prepare(removal.select, parameters_.context));
  planned_ns_ = service_.clock.MonotonicNs();
  ASSIGN_OR_RETURN(auto select, service_.engine.Execute(plan_, MakeRunRequest()));
  const auto remove = [this, keyspace = removal.keyspace](const std::string& id) {
    if (keyspace == "prepareds") return service_.engine.DeleteNamed(id);
    if (keyspace == "completed_requests") return service_.completed.Remove(id);
    const auto active = service_.active.Find(id);
    if (active == nullptr || active == active_) return false;
    active->cancelled->store(true);
    return true;
  };
  run_ = query::MakeSystemDeleteRun(std::move(select), remove);
  return OkStatus();
}

Status QueryStatement::CheckDurability() const {
  if (!parameters_.needs_disk ||
      service_.engine.database().operations().durability() == db::Durability::kSync) {
    return OkStatus();
  }
  return query::QueryError(QueryCode::kNotDurable,
                           "durability_level: this server acknowledges writes before they are on "
                           "disk (storage.durability)");
}

Status QueryStatement::StartTransactional() {
  RETURN_IF_ERROR(AuthorizeStatement(*caller_.who, *plan_));
  if (parameters_.read_only) {
    return query::QueryError(QueryCode::kReadOnly,
                             "transactions can't be begun or ended in a read-only request");
  }
  if (parameters_.implicit_transaction) {
    return query::QueryError(QueryCode::kBadParameter,
                             "parameter 'tximplicit' is of a statement that is a transaction by "
                             "itself, not of BEGIN, COMMIT and their like");
  }
  query::TransactionRequest request{.user = active_->user,
                                    .txid = parameters_.txid,
                                    .timeout_ms = parameters_.transaction_timeout_ms.value_or(0),
                                    .new_txid = {},
                                    .statement_number = parameters_.transaction_statement};
  if (parameters_.transaction_data) {
    RETURN_IF_ERROR(ReadTransactionData(*parameters_.transaction_data, &request));
  }
  ASSIGN_OR_RETURN(run_, query::RunTransactionStatement(service_.transactions, *plan_, request));
  return OkStatus();
}

query::KeyspaceGuard QueryStatement::Guard() const {
  return [who = caller_.who](const db::KeyspaceName& keyspace) { return MayKnow(*who, keyspace); };
}

Result<QueryStatement::PlanPtr> QueryStatement::Prepare(std::string_view text,
                                                        const query::QueryContext& context,
                                                        Profiling profiling) {
  return service_.engine.Prepare(text, context, profiling, Guard());
}

Result<QueryStatement::PlanPtr> QueryStatement::FindPlan() {
  if (!parameters_.prepared.empty()) return FindPrepared(parameters_.prepared);
  const bool profiled = parameters_.profile == QueryParameters::Profile::kTimings;
  ASSIGN_OR_RETURN(PlanPtr plan, Prepare(parameters_.statement, parameters_.context,
                                         profiled ? Profiling::kOn : Profiling::kOff));
  if (plan->kind == StatementKind::kPrepare && parameters_.auto_execute) {
    return PrepareAndFind(std::move(plan));
  }
  return plan;
}

// By its name or, where that is not known, by the text that PREPARE gave with it.
Result<QueryStatement::PlanPtr> QueryStatement::FindPrepared(const std::string& name) {
  query::QueryEngine& engine = service_.engine;
  Result<PlanPtr> named = engine.FindNamed(name, Guard());
  if (!named && !parameters_.encoded_plan.empty()) {
    ASSIGN_OR_RETURN(const query::PreparedText text, query::DecodePlan(parameters_.encoded_plan));
    ASSIGN_OR_RETURN(named, Prepare(text.text, text.context));
    RETURN_IF_ERROR(AuthorizeStatement(*caller_.who, **named));
    RETURN_IF_ERROR(engine.Name(name, *named, active_->user, false));
  }
  if (!named || parameters_.profile != QueryParameters::Profile::kTimings) return named;
  return Prepare((*named)->text, (*named)->context, Profiling::kOn);
}

// auto_execute: what PREPARE prepares runs at once, and the answer tells its name.
Result<QueryStatement::PlanPtr> QueryStatement::PrepareAndFind(PlanPtr prepare) {
  ASSIGN_OR_RETURN(const auto run, service_.engine.Execute(std::move(prepare), MakeRunRequest()));
  if (!run->Next()) return Unexpected(run->status());
  const std::string name(run->row()["name"].AsString());
  answer_->set_prepared(name);
  return FindPrepared(name);
}

// The time that is left for the request. Its wait for a thread counts.
uint64_t QueryStatement::RemainingMs() const {
  uint64_t limit = parameters_.timeout_ms.value_or(0);
  const auto bound = [&](uint64_t most) {
    if (most != 0 && (limit == 0 || most < limit)) limit = most;
  };
  bound(service_.options.timeout_ms);
  bound(parameters_.transaction_timeout_ms.value_or(0));
  if (limit == 0) return 0;
  const uint64_t waited = (service_.clock.MonotonicNs() - caller_.arrival_ns) / 1'000'000;
  return limit > waited ? limit - waited : 1;
}

query::RunRequest QueryStatement::MakeRunRequest() {
  query::RunRequest request;
  request.positional = parameters_.positional;
  request.named = parameters_.named;
  request.timeout_ms = RemainingMs();
  if (lease_) {
    request.transaction = &lease_->transaction();
    const uint64_t left = lease_->RemainingMs();
    if (request.timeout_ms == 0 || left < request.timeout_ms) request.timeout_ms = left;
  }
  if (implicit_) request.transaction = &*implicit_;
  request.memory_limit_mib = parameters_.memory_quota_mib;
  request.read_only = parameters_.read_only;
  request.user = active_->user;
  request.cancelled = active_->cancelled;
  request.turn = turn_;
  request.preserve_expiry = parameters_.preserve_expiry;
  request.max_parallelism = parameters_.max_parallelism;
  request.acknowledges = caller_.acknowledges;
  request.receipts = caller_.receipts;
  request.time_zone = parameters_.time_zone;
  request.procedure_versions = parameters_.procedure_versions;
  request.authorize = [who = caller_.who](const StatementPlan& plan) {
    return AuthorizeStatement(*who, plan);
  };
  request.guard = Guard();
  request.system_rows = [&service = service_, who = caller_.who](std::string_view name) {
    return ReadSystemRows(service, *who, name);
  };
  return request;
}

void QueryStatement::ReadRows(const Limits& limits, Chunk* chunk) {
  const bool alone = limits.first_row_alone && !answer_->has_head();
  const auto head = [&] {
    if (!answer_->has_head()) answer_->Head(plan_->signature, &chunk->text);
  };
  if (limits.rows == 0) return head();
  uint64_t flush_at = kNever;
  for (uint64_t rows = 1; run_->Next(); ++rows) {
    if (answer_->rows() == 0 && plan_->kind == StatementKind::kExecute) {
      auto types = run_->column_types();
      if (!types.empty()) answer_->SetColumnTypes(std::move(types));
    }
    head();
    answer_->Row(parameters_.sort_projection ? Sorted(run_->row()) : run_->row(), &chunk->text);
    chunk->rows = rows;
    active_->rows.fetch_add(1, std::memory_order_relaxed);
    if (plan_->kind == StatementKind::kTransaction) txid_ = run_->row()["txid"].AsString();
    if (alone || rows >= limits.rows || chunk->text.size() >= limits.bytes) return;
    if (run_->NextWaits()) return;
    const uint64_t now = service_.clock.MonotonicNs();
    if (flush_at == kNever) flush_at = now + kFlushNs;
    if (now >= flush_at) return;
  }
  Finish(run_->status(), chunk);
}

// The statement alone is a transaction, if it is one, and has come to its end.
Status QueryStatement::CommitImplicit() {
  if (!implicit_ || implicit_->writes() == 0 || !run_->row_errors().empty()) return OkStatus();
  return query::CommitTransaction(*implicit_);
}

void QueryStatement::Finish(const Status& ended, Chunk* chunk) {
  chunk->last = true;
  QueryOutcome outcome;
  const Status status = ended.ok() ? CommitImplicit() : ended;
  if (!status.ok()) {
    outcome.errors.push_back(status);
    outcome.ended_early = true;
    if (!answer_->has_head()) chunk->refused = status;
  }
  if (run_ != nullptr) {
    outcome.errors.insert(outcome.errors.end(), run_->row_errors().begin(),
                          run_->row_errors().end());
    outcome.warnings = run_->warnings();
    const bool undone = implicit_ && !outcome.errors.empty();
    outcome.mutations = undone ? 0 : run_->mutations();
    outcome.sorted = run_->sorted();
    if (!answer_->has_head()) answer_->Head(plan_->signature, &chunk->text);
  }
  const uint64_t now = service_.clock.MonotonicNs();
  outcome.elapsed_ns = now - caller_.arrival_ns;
  outcome.execution_ns = now - started_ns_;
  outcome.load = service_.active.size();
  if (parameters_.profile != QueryParameters::Profile::kOff) outcome.profile = Profile();
  if (parameters_.controls) outcome.controls = Controls();
  answer_->Tail(outcome, &chunk->text);
  if (lease_ && outcome.errors.empty()) lease_->Keep();
  if (!outcome.errors.empty()) failure_ = outcome.errors.front();
  FollowTransaction(outcome);
  NoteCompleted(outcome);
  Release();
}

// Whatever came of it, a transaction that is to end has ended.
void QueryStatement::FollowTransaction(const QueryOutcome& outcome) {
  using Action = query::TransactionStatement::Action;
  if (plan_ != nullptr && plan_->kind == StatementKind::kTransaction) {
    const Action action = std::get<query::TransactionStatement>(plan_->statement->body).action;
    if (action == Action::kCommit || action == Action::kRollback) txid_.clear();
  }
  for (const Status& error : outcome.errors) {
    if (query::CodeOf(error) == QueryCode::kTransactionNotFound) txid_.clear();
  }
}

void QueryStatement::NoteCompleted(const QueryOutcome& outcome) {
  const uint64_t threshold_ns = service_.completed.threshold_ms() * 1'000'000;
  if (outcome.errors.empty() && outcome.elapsed_ns < threshold_ns) return;
  query::CompletedRequest completed{.id = active_->id,
                                    .client_context_id = active_->client_context_id,
                                    .user = active_->user,
                                    .statement = active_->statement,
                                    .started_ms = active_->started_ms};
  completed.elapsed = GoDuration(outcome.elapsed_ns);
  completed.service = GoDuration(outcome.execution_ns);
  completed.rows = answer_->rows();
  completed.bytes = answer_->row_bytes();
  completed.mutations = outcome.mutations;
  completed.errors = outcome.errors.size();
  if (!outcome.errors.empty()) completed.first_error = outcome.errors.front().message();
  completed.state = QueryStatusText(outcome, answer_->has_head());
  service_.completed.Add(std::move(completed));
}

// Times of this statement: in the queue, planning, running, and waiting for the client to read.
Value QueryStatement::Profile() const {
  const uint64_t now = service_.clock.MonotonicNs();
  const uint64_t planned = planned_ns_ == 0 ? now : planned_ns_;
  const uint64_t running = planned_ns_ == 0 ? 0 : std::min(running_ns_, now - planned);
  Value profile = Value::Object(
      {{"phaseTimes", Value::Object({{"queue", Value(GoDuration(started_ns_ - caller_.arrival_ns))},
                                     {"plan", Value(GoDuration(planned - started_ns_))},
                                     {"run", Value(GoDuration(running))},
                                     {"stream", Value(GoDuration(now - planned - running))}})},
       {"phaseCounts",
        Value::Object({{"rows", Value::Unsigned(answer_->rows())},
                       {"mutations", Value::Unsigned(run_ ? run_->mutations() : 0)}})}});
  if (run_ == nullptr) return profile;
  Value timings = run_->profile();
  if (!timings.is_missing()) profile.Set("executionTimings", std::move(timings));
  return profile;
}

// What the request asked for, as Couchbase names it.
Value QueryStatement::Controls() const {
  Value controls = Value::Object({{"scan_consistency", Value(parameters_.scan_consistency)},
                                  {"queryContext", Value(query::ContextText(parameters_.context))},
                                  {"readonly", Value(parameters_.read_only)}});
  if (!parameters_.positional.empty()) {
    Value list = Value::EmptyArray();
    for (const Value& value : parameters_.positional) list.Append(value);
    controls.Set("positionalArgs", std::move(list));
  }
  if (!parameters_.named.empty()) {
    Value named = Value::EmptyObject();
    for (const auto& [name, value] : parameters_.named) named.Set(name, value);
    controls.Set("namedArgs", std::move(named));
  }
  if (parameters_.memory_quota_mib > 0) {
    controls.Set("memoryQuota", Value::Unsigned(parameters_.memory_quota_mib));
  }
  return controls;
}

}  // namespace sluice::service
