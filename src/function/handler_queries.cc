// The natives of library/queries.js. A statement reads and writes in the invocation's transaction.
#include "function/handler.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::function {
namespace {

constexpr size_t kMaxOpenQueries = 100;

void ThrowQuery(script::Call& call, const Status& status) {
  call.Throw("N1QLError", status.message());
}

}  // namespace

std::vector<script::Native> Handler::QueryNatives() {
  return {
      {"queryStart", [this](script::Call& call) { QueryStart(call); }},
      {"queryNext", [this](script::Call& call) { QueryNext(call); }},
      {"queryClose", [this](script::Call& call) { QueryClose(call); }},
  };
}

void Handler::QueryStart(script::Call& call) {
  if (queries_.size() >= kMaxOpenQueries) {
    return call.Throw("N1QLError", fmt::format("an invocation may have at most {} statements open",
                                               kMaxOpenQueries));
  }
  query::RunRequest request;
  request.transaction = transaction_;
  request.timeout_ms = RemainingMs();
  const std::string parameters = call.String(1);
  if (!parameters.empty()) {
    const Result<json::Value> values = json::Parse(parameters);
    if (!values) return ThrowQuery(call, values.error());
    if (values->is_array()) {
      request.positional.assign(values->items().begin(), values->items().end());
    }
    for (const json::Field& field : values->fields()) {
      request.named.emplace(field.name(), field.value);
    }
  }
  auto run = services_.queries.Query(call.String(0), {}, std::move(request));
  if (!run) return ThrowQuery(call, run.error());
  const uint32_t handle = next_query_++;
  queries_.emplace(handle, std::move(*run));
  call.Return(static_cast<double>(handle));
}

void Handler::QueryNext(script::Call& call) {
  const auto found = queries_.find(static_cast<uint32_t>(call.Number(0)));
  if (found == queries_.end()) return;
  query::Run& run = *found->second;
  if (run.Next()) return call.ReturnJson(json::ToText(run.row()));
  if (!run.status().ok()) ThrowQuery(call, run.status());
}

void Handler::QueryClose(script::Call& call) {
  queries_.erase(static_cast<uint32_t>(call.Number(0)));
}

}  // namespace sluice::function
