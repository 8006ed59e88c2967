#include "query/engine.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "query/exec/context.h"
#include "query/parse/parser.h"
#include "query/plan/statement_planner.h"
#include "query/run.h"

namespace sluice::query {

namespace {

size_t Cores() { return std::max<size_t>(1, std::thread::hardware_concurrency()); }

}  // namespace

QueryEngine::QueryEngine(db::Database& database, EngineOptions options)
    : database_(database),
      options_(std::move(options)),
      threads_((options_.threads == 0 ? Cores() : options_.threads) - 1) {}
QueryEngine::~QueryEngine() = default;

std::shared_ptr<const UserFunctionTable> QueryEngine::Functions() const {
  static const auto kNone = std::make_shared<const UserFunctionTable>();
  return procedures_ == nullptr ? kNone : procedures_->Functions();
}

size_t QueryEngine::ParallelismOf(const RunRequest& request) const {
  if (request.transaction != nullptr) return 1;  // its reader belongs to one thread
  const size_t most = threads_.limit() + 1;
  return request.max_parallelism == 0 ? most : std::min(most, request.max_parallelism);
}

Result<std::shared_ptr<const StatementPlan>> QueryEngine::Prepare(std::string_view text,
                                                                  const QueryContext& context,
                                                                  Profiling profiling,
                                                                  const KeyspaceGuard& guard) {
  ASSIGN_OR_RETURN(Statement statement, ParseStatement(text, context.dialect));
  const std::shared_ptr<const db::Catalog> catalog = database_.catalog();
  const std::shared_ptr<const UserFunctionTable> functions = Functions();
  return PlanStatement(database_, *catalog, *functions, context, std::move(statement),
                       std::string(text), profiling == Profiling::kOn, guard);
}

Result<std::unique_ptr<Run>> QueryEngine::Execute(std::shared_ptr<const StatementPlan> plan,
                                                  RunRequest request) {
  if (plan->catalog_version != database_.catalog()->version() ||
      (plan->uses_functions && plan->functions_version != Functions()->version)) {
    const bool profiled = plan->counted_operators > 0;
    ASSIGN_OR_RETURN(plan, Prepare(plan->text, plan->context,
                                   profiled ? Profiling::kOn : Profiling::kOff, request.guard));
  }
  if (request.authorize) RETURN_IF_ERROR(request.authorize(*plan));
  if (request.transaction != nullptr && plan->administers) {
    return QueryFail(QueryCode::kTransaction, "the catalog can't be changed in a transaction");
  }
  if (request.read_only && !plan->IsReadOnly()) {
    return QueryFail(QueryCode::kReadOnly, "{} can't run in a read-only request",
                     KindName(plan->kind));
  }
  if (plan->runs) plan->runs->fetch_add(1, std::memory_order_relaxed);
  return StartRun(*this, std::move(plan), std::move(request));
}

Result<std::unique_ptr<Run>> QueryEngine::Query(std::string_view text, const QueryContext& context,
                                                RunRequest request) {
  ASSIGN_OR_RETURN(auto plan, Prepare(text, context, Profiling::kOff, request.guard));
  return Execute(std::move(plan), std::move(request));
}

Result<std::shared_ptr<const StatementPlan>> QueryEngine::FindNamed(const std::string& name,
                                                                    const KeyspaceGuard& guard) {
  const auto passes = [&](const StatementPlan& plan) {
    const auto known = [&](const db::KeyspaceName& keyspace) { return guard(keyspace).ok(); };
    return !guard ||
           (std::ranges::all_of(plan.reads, known) && std::ranges::all_of(plan.writes, known));
  };
  std::shared_ptr<const StatementPlan> plan;
  {
    const auto named = named_.Lock();
    const auto found = named->find(name);
    if (found != named->end()) plan = found->second.plan;
  }
  if (plan != nullptr && passes(*plan)) return plan;
  return QueryFail(QueryCode::kNoSuchPrepared, "nothing is prepared as '{}'", name);
}

Status QueryEngine::Name(const std::string& name, std::shared_ptr<const StatementPlan> plan,
                         const std::string& user, bool force) {
  const auto named = named_.Lock();
  const auto found = named->find(name);
  if (found != named->end()) {
    NamedPlan& known = found->second;
    const bool same = known.plan->text == plan->text && known.plan->context == plan->context;
    if (!same && known.user != user) {
      return QueryError(QueryCode::kPreparedExists,
                        "'{}' was prepared by another user: choose another name", name);
    }
    if (!same && !force) {
      return QueryError(QueryCode::kPreparedMismatch,
                        "'{}' is prepared with another text or query_context: use PREPARE FORCE",
                        name);
    }
    known.plan.swap(plan);  // the old one ends after the lock
    return OkStatus();
  }
  if (named->size() >= options_.max_named_prepared) {
    return QueryError(QueryCode::kPreparedExists,
                      "{} statements are prepared, the most there may be", named->size());
  }
  named->emplace(name, NamedPlan{.plan = std::move(plan), .user = user});
  return OkStatus();
}

bool QueryEngine::DeleteNamed(const std::string& name) {
  const auto deleted = named_.Lock()->extract(name);  // ends after the lock
  return !deleted.empty();
}

std::vector<std::pair<std::string, std::shared_ptr<const StatementPlan>>> QueryEngine::Named()
    const {
  std::vector<std::pair<std::string, std::shared_ptr<const StatementPlan>>> all;
  const auto all_named = named_.Lock();
  for (const auto& [name, named] : *all_named) all.emplace_back(name, named.plan);
  return all;
}

}  // namespace sluice::query
