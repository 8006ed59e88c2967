// The natives of library/queries.js. A statement reads and writes in the invocation's transaction.
#include "function/confinement.h"
#include "function/document_cache.h"
#include "function/handler.h"
#include "function/source/sql_statement.h"
#include "json/parse.h"
#include "json/print.h"
#include "query/statement_plan.h"

namespace sluice::function {
namespace {

constexpr size_t kMaxOpenQueries = 100;
constexpr std::string_view kNoSearch =
    "Search is not available: this server has no full-text indexes. Use SQL++, such as LIKE, "
    "CONTAINS() or REGEXP_CONTAINS()";

Result<std::shared_ptr<const query::StatementPlan>> PlanOf(query::QueryEngine& queries,
                                                           const std::string& statement,
                                                           const query::KeyspaceGuard& guard) {
  auto plan = queries.Prepare(statement, {}, query::QueryEngine::Profiling::kOff, guard);
  if (plan) return plan;
  const std::string verb = UnavailableVerb(statement);
  if (verb.empty()) return plan;
  return Fail(Code::kUnsupported, "function.sql_unavailable", "{} is not available on this server",
              verb);
}

}  // namespace

void Handler::ThrowQuery(script::Call& call, size_t type, const Status& status) {
  // After a stop the statement has no result, so the handler's run must not count.
  interrupted_ |= stop_->load();
  const std::string name = call.String(type);
  ++(name == "AnalyticsError" ? statistics_->analytics_exceptions : statistics_->query_exceptions);
  call.Throw(name, status.message());
}

std::vector<script::Native> Handler::QueryNatives() {
  return {
      {"queryStart", [this](script::Call& call) { QueryStart(call); }},
      {"queryNext", [this](script::Call& call) { QueryNext(call); }},
      {"queryClose", [this](script::Call& call) { QueryClose(call); }},
      {"searchQuery",
       [this](script::Call& call) {
         ++statistics_->search_exceptions;
         call.Throw("SearchError", kNoSearch);
       }},
  };
}

// statement, parameters as JSON text, class of errors, whether it may only read.
void Handler::QueryStart(script::Call& call) {
  if (queries_.size() >= kMaxOpenQueries) {
    return call.Throw(
        call.String(2),
        fmt::format("an invocation may have at most {} statements open", kMaxOpenQueries));
  }
  auto query = std::make_unique<OpenQuery>();
  query::RunRequest request;
  request.transaction = transaction_;
  request.cancelled = stop_;
  request.timeout_ms = RemainingMs();
  request.read_only = call.Boolean(3);
  const std::string parameters = call.String(1);
  if (!parameters.empty()) {
    const Result<json::Value> values = json::Parse(parameters);
    if (!values) return ThrowQuery(call, 2, values.error());
    if (values->is_array()) {
      request.positional.assign(values->items().begin(), values->items().end());
    }
    for (const json::Field& field : values->fields()) {
      request.named.emplace(field.name(), field.value);
    }
  }
  request.authorize = [this, query = query.get()](const query::StatementPlan& plan) {
    query->writes |= !plan.IsReadOnly();
    return CheckConfined(*definition_, plan);
  };
  request.guard = [this](const db::KeyspaceName& keyspace) {
    return CheckConfined(*definition_, keyspace);
  };
  auto plan = PlanOf(services_.queries, call.String(0), request.guard);
  if (!plan) return ThrowQuery(call, 2, plan.error());
  // As in Couchbase, what changes the catalog does so at once, whatever becomes of the invocation.
  if ((*plan)->administers && !definition_->is_task()) request.transaction = nullptr;
  auto run = services_.queries.Execute(std::move(*plan), std::move(request));
  if (!run) return ThrowQuery(call, 2, run.error());
  query->run = std::move(*run);
  const size_t savepoint = transaction_->Savepoint();
  Status done = Begin(*query);
  NoteWrites(*query->run);
  if (done.ok()) done = CheckWritten();
  if (done.id() == "function.too_many_writes") transaction_->RollbackTo(savepoint);
  if (!done.ok()) return ThrowQuery(call, 2, done);
  const uint32_t handle = next_query_++;
  queries_.emplace(handle, std::move(query));
  call.Return(static_cast<double>(handle));
}

// A statement that writes runs to its end at once, even if the handler does not read its rows, and
// throws its errors at once. A statement that reads gives its rows one by one.
Status Handler::Begin(OpenQuery& query) {
  query::Run& run = *query.run;
  if (run.Next()) query.rows.push_back(json::ToText(run.row()));
  while (query.writes && !query.rows.empty() && run.Next()) {
    query.rows.push_back(json::ToText(run.row()));
  }
  RETURN_IF_ERROR(run.status());
  return run.row_errors().empty() ? OkStatus() : run.row_errors().front();
}

// handle, class of errors.
void Handler::QueryNext(script::Call& call) {
  const auto found = queries_.find(static_cast<uint32_t>(call.Number(0)));
  if (found == queries_.end()) return;
  OpenQuery& query = *found->second;
  if (!query.rows.empty()) {
    call.ReturnJson(query.rows.front());
    query.rows.pop_front();
    return;
  }
  query::Run& run = *query.run;
  if (!query.writes && run.Next()) return call.ReturnJson(json::ToText(run.row()));
  if (!run.status().ok()) ThrowQuery(call, 1, run.status());
}

void Handler::QueryClose(script::Call& call) {
  const auto found = queries_.find(static_cast<uint32_t>(call.Number(0)));
  if (found != queries_.end()) queries_.erase(found);
}

void Handler::NoteWrites(const query::Run& run) {
  if (cache_ != nullptr && run.mutations() > 0) cache_->Clear();
}

}  // namespace sluice::function
