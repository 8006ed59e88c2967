#include "procedure/session.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "procedure/temporary_table.h"
#include "query/error.h"
#include "query/system_tables.h"

namespace sluice::procedure {
namespace {

thread_local int current_nesting = 0;

}  // namespace

int64_t ResultCodeOf(const Status& status) {
  constexpr std::pair<std::string_view, int64_t> kById[] = {
      {"lua.conversion", kConversion},
      {"query.conversion", kConversion},
      {"query.foreign_key", kForeignKey},
      {"query.not_null", kNullConstraint},
      {"query.check_constraint", kCheckConstraint}};
  for (const auto& [id, code] : kById) {
    if (status.id() == id) return code;
  }
  switch (status.code()) {
    case Code::kOk:
      return kOk;
    case Code::kAlreadyExists:
      return kDuplicate;
    case Code::kConflict:
      return kVerify;
    default:
      return kFailed;
  }
}

Status FailureOf(std::string_view kind, const std::string& name, const script::Outcome& outcome) {
  using script::Ended;
  Code code = Code::kInvalidArgument;
  if (outcome.ended == Ended::kTimedOut) code = Code::kTimeout;
  if (outcome.ended == Ended::kStopped) code = Code::kCancelled;
  Status status = Error(code, "procedure.failed", "{} '{}': {}", kind, name, outcome.message);
  if (!outcome.stack.empty()) status = status.With("stack", outcome.stack);
  if (outcome.place.line > 0) {
    status =
        status.At({.file = name, .line = static_cast<uint32_t>(outcome.place.line), .column = 0});
  }
  return status;
}

Value ChosenVersion(const query::RunRequest& request, const std::string& procedure) {
  const auto chosen = request.procedure_versions.find(procedure);
  return chosen == request.procedure_versions.end() ? Value() : chosen->second;
}

int CurrentNesting() { return current_nesting; }
NestedRun::NestedRun(int nesting) : outer_(current_nesting) { current_nesting = nesting; }
NestedRun::~NestedRun() { current_nesting = outer_; }

void Session::AddTemporary(const std::shared_ptr<TemporaryTable>& table) {
  if (!temporary.emplace(table->key(), table).second) return;
  for (query::LocalTable& known : context.local_tables) {
    if (db::SameColumnName(known.name, table->schema()->name)) known.name.clear();
  }
  context.local_tables.push_back(
      {.name = table->schema()->name, .key = table->key(), .schema = table->schema()});
  plans.clear();
}

std::shared_ptr<TemporaryTable> Session::FindTemporary(std::string_view name) const {
  const query::LocalTable* const known = context.FindLocal(name);
  if (known == nullptr) return nullptr;
  const auto found = temporary.find(known->key);
  return found == temporary.end() ? nullptr : found->second;
}

Result<std::shared_ptr<const query::StatementPlan>> Session::Plan(std::string_view text) {
  constexpr size_t kMostPlans = 64;
  constexpr size_t kMostText = 4096;
  const auto found = plans.find(text);
  if (found != plans.end()) {
    if (found->second->catalog_version == engine.database().catalog()->version()) {
      return found->second;
    }
    plans.erase(found);
  }
  ASSIGN_OR_RETURN(
      auto plan, engine.Prepare(text, context, query::QueryEngine::Profiling::kOff, request.guard));
  // What uses functions of users is planned anew: they may have changed.
  if (text.size() > kMostText || plan->uses_functions) return plan;
  if (plans.size() >= kMostPlans) plans.clear();
  plans.emplace(text, plan);
  return plan;
}

query::RunRequest Session::Request(lua::Call& call) {
  if (begun && transaction == nullptr) {
    transaction = std::make_unique<db::Transaction>(engine.database());
    transaction->set_actor(request.user);
  }
  query::RunRequest made;
  made.user = request.user;
  made.read_only = request.read_only;
  made.authorize = request.authorize;
  made.guard = request.guard;
  made.system_rows = request.system_rows;
  if (!temporary.empty()) {
    made.system_rows = [tables = temporary, more = request.system_rows,
                        &engine = engine](std::string_view key) -> Result<std::vector<Value>> {
      if (const auto found = tables.find(key); found != tables.end()) return found->second->Rows();
      if (more != nullptr) return more(key);
      auto rows = query::SystemTableRows(*engine.database().catalog(), engine.procedures(), key);
      if (rows) return std::move(*rows);
      return query::QueryFail(query::QueryCode::kKeyspaceNotFound, "there is no system:{} here",
                              key);
    };
  }
  made.time_zone = request.time_zone;
  made.procedure_versions = request.procedure_versions;
  made.transaction = transaction != nullptr ? transaction.get() : request.transaction;
  made.cancelled = cancelled;
  const uint64_t left = call.RemainingMs();
  if (left != lua::Call::kNoLimit) made.timeout_ms = std::max<uint64_t>(left, 1);
  return made;
}

int64_t Session::Note(const Status& status) {
  last_error = status.ok() ? "" : status.message();
  return ResultCodeOf(status);
}

}  // namespace sluice::procedure
