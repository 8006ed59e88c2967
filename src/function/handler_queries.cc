// The natives of library/queries.js. A statement reads and writes in the invocation's transaction.
#include "function/confinement.h"
#include "function/document_cache.h"
#include "function/handler.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::function {
namespace {

constexpr size_t kMaxOpenQueries = 100;

}  // namespace

void Handler::ThrowQuery(script::Call& call, size_t type, const Status& status) {
  ++statistics_->query_exceptions;
  call.Throw(call.String(type), status.message());
}

std::vector<script::Native> Handler::QueryNatives() {
  return {
      {"queryStart", [this](script::Call& call) { QueryStart(call); }},
      {"queryNext", [this](script::Call& call) { QueryNext(call); }},
      {"queryClose", [this](script::Call& call) { QueryClose(call); }},
  };
}

// statement, parameters as JSON text, class of errors, whether it may only read.
void Handler::QueryStart(script::Call& call) {
  if (queries_.size() >= kMaxOpenQueries) {
    return call.Throw(
        call.String(2),
        fmt::format("an invocation may have at most {} statements open", kMaxOpenQueries));
  }
  query::RunRequest request;
  request.transaction = transaction_;
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
  request.authorize = [this](const query::StatementPlan& plan) {
    return CheckConfined(*definition_, plan);
  };
  auto run = services_.queries.Query(call.String(0), {}, std::move(request));
  if (!run) return ThrowQuery(call, 2, run.error());
  const uint32_t handle = next_query_++;
  queries_.emplace(handle, std::move(*run));
  call.Return(static_cast<double>(handle));
}

// handle, class of errors.
void Handler::QueryNext(script::Call& call) {
  const auto found = queries_.find(static_cast<uint32_t>(call.Number(0)));
  if (found == queries_.end()) return;
  query::Run& run = *found->second;
  if (run.Next()) return call.ReturnJson(json::ToText(run.row()));
  if (!run.status().ok()) ThrowQuery(call, 1, run.status());
}

void Handler::QueryClose(script::Call& call) {
  const auto found = queries_.find(static_cast<uint32_t>(call.Number(0)));
  if (found == queries_.end()) return;
  NoteWrites(*found->second);
  queries_.erase(found);
}

void Handler::NoteWrites(const query::Run& run) {
  if (cache_ != nullptr && run.mutations() > 0) cache_->Clear();
}

}  // namespace sluice::function
