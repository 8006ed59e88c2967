#include "rest/service_answer.h"

#include <utility>

#include "json/print.h"
#include "query/cdb2_text.h"
#include "query/error.h"
#include "query/result_text.h"

namespace sluice::rest {
namespace {

using json::Value;
using service::QueryOutcome;
using service::QueryParameters;

constexpr int kIndent = 4;

}  // namespace

int QueryHttpStatus(const Status& error) {
  return error.ok() ? 200 : query::HttpStatusOf(query::CodeOf(error));
}

ServiceAnswer::ServiceAnswer(std::string request_id, const QueryParameters& parameters)
    : QueryAnswer(std::move(request_id), parameters),
      client_context_id_(parameters.client_context_id),
      indent_(parameters.pretty ? kIndent : 0) {}

void ServiceAnswer::Separate(std::string* out) const {
  out->append(",\n");
  out->append(static_cast<size_t>(indent_), ' ');
}

void ServiceAnswer::Member(std::string_view name, const Value& value, std::string* out) const {
  json::AppendQuoted(name, out);
  out->append(": ");
  Append(value, 1, out);
}

// Values are printed by themselves: in a pretty answer their lines are moved to their level.
void ServiceAnswer::Append(const Value& value, int level, std::string* out) const {
  if (indent_ == 0) return query::AppendResult(value, out);
  std::string text;
  query::AppendResult(value, &text, indent_);
  for (const char c : text) {
    out->push_back(c);
    if (c == '\n') out->append(static_cast<size_t>(indent_ * level), ' ');
  }
}

void ServiceAnswer::Begin(std::string* out) {
  begun_ = true;
  out->append("{\n");
  out->append(static_cast<size_t>(indent_), ' ');
  Member("requestID", Value(request_id_), out);
  if (client_context_id_.empty()) return;
  Separate(out);
  Member("clientContextID", Value(client_context_id_), out);
}

void ServiceAnswer::Head(const Value& signature, std::string* out) {
  Begin(out);
  has_head_ = true;
  if (!prepared_.empty()) {
    Separate(out);
    Member("prepared", Value(prepared_), out);
  }
  if (signature_ && !signature.is_missing()) {
    Separate(out);
    Member("signature", signature, out);
  }
  Separate(out);
  out->append(R"("results": [)");
}

void ServiceAnswer::Row(const Value& row, std::string* out) {
  if (rows_++ > 0) out->push_back(',');
  out->push_back('\n');
  out->append(static_cast<size_t>(2 * indent_), ' ');
  const size_t before = out->size();
  if (cdb2_rows_) {
    json::AppendQuoted(query::Cdb2Row(row, time_zone_, cdb2_types_), out);
  } else {
    Append(row, 2, out);
  }
  row_bytes_ += out->size() - before;
}

void ServiceAnswer::Tail(const QueryOutcome& outcome, std::string* out) {
  if (!begun_) Begin(out);
  if (has_head_) {
    out->push_back('\n');
    out->append(static_cast<size_t>(indent_), ' ');
    out->push_back(']');
  }
  if (!outcome.errors.empty()) {
    Separate(out);
    Member("errors", service::ErrorsView(outcome.errors), out);
  }
  if (!outcome.warnings.empty()) {
    Separate(out);
    Member("warnings", service::WarningsView(outcome.warnings), out);
  }
  Separate(out);
  Member("status", Value(service::QueryStatusText(outcome, has_head_)), out);
  if (metrics_) {
    Separate(out);
    Member("metrics", Metrics(outcome), out);
  }
  if (!outcome.controls.is_missing()) {
    Separate(out);
    Member("controls", outcome.controls, out);
  }
  if (!outcome.profile.is_missing()) {
    Separate(out);
    Member("profile", outcome.profile, out);
  }
  out->append("\n}\n");
}

}  // namespace sluice::rest
