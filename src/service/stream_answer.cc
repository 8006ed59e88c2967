#include "service/stream_answer.h"

#include <utility>

#include "json/print.h"
#include "query/cdb2_text.h"
#include "query/result_text.h"

namespace sluice::service {

using json::Value;

StreamAnswer::StreamAnswer(std::string id, std::string request_id,
                           const QueryParameters& parameters)
    : QueryAnswer(std::move(request_id), parameters), id_(std::move(id)) {}

void StreamAnswer::Open(std::string* out) {
  out->append(R"({"id":)");
  out->append(id_);
}

void StreamAnswer::Close(std::string* out) {
  EndRows(out);
  out->push_back('}');
}

void StreamAnswer::EndRows(std::string* out) {
  if (std::exchange(in_rows_, false)) out->push_back(']');
}

void StreamAnswer::Head(const Value& signature, std::string* out) {
  has_head_ = true;
  out->append(R"(,"requestID":)");
  json::AppendQuoted(request_id_, out);
  if (!prepared_.empty()) {
    out->append(R"(,"prepared":)");
    json::AppendQuoted(prepared_, out);
  }
  if (!signature_ || signature.is_missing()) return;
  out->append(R"(,"signature":)");
  query::AppendResult(signature, out);
}

void StreamAnswer::Row(const Value& row, std::string* out) {
  out->append(std::exchange(in_rows_, true) ? "," : R"(,"rows":[)");
  const size_t before = out->size();
  if (cdb2_rows_) {
    json::AppendQuoted(query::Cdb2Row(row, time_zone_, cdb2_types_), out);
  } else {
    query::AppendResult(row, out);
  }
  ++rows_;
  row_bytes_ += out->size() - before;
}

void StreamAnswer::Tail(const QueryOutcome& outcome, std::string* out) {
  EndRows(out);
  Value done = Value::Object({{"status", Value(QueryStatusText(outcome, has_head_))}});
  if (!outcome.errors.empty()) done.Set("errors", ErrorsView(outcome.errors));
  if (!outcome.warnings.empty()) done.Set("warnings", WarningsView(outcome.warnings));
  if (metrics_) done.Set("metrics", Metrics(outcome));
  if (!outcome.controls.is_missing()) done.Set("controls", outcome.controls);
  if (!outcome.profile.is_missing()) done.Set("profile", outcome.profile);
  out->append(R"(,"done":)");
  query::AppendResult(done, out);
}

}  // namespace sluice::service
