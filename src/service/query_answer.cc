#include "service/query_answer.h"

#include <utility>

#include "query/cdb2_text.h"

namespace sluice::service {
namespace {

using json::Value;
using query::QueryCode;

// What lies below an error has a number, too, by which clients tell errors of writes apart.
Value ReasonView(const Status& error) {
  Value reason = Value::EmptyObject();
  if (const auto cause = query::CauseOf(error)) {
    reason.Set("code", Value(static_cast<int>(*cause)));
  }
  for (const auto& [name, value] : error.fields()) {
    if (name == "code" || name == query::kCauseCode) continue;
    reason.Set(name, Value(value));
  }
  return reason;
}

bool IsWorthRetrying(const Status& error) {
  const QueryCode code = query::CodeOf(error);
  return code == QueryCode::kTooManyRequests || code == QueryCode::kCommitConflict ||
         query::CauseOf(error) == QueryCode::kCasMismatch;
}

Value ErrorView(const Status& error) {
  Value view = Value::Object({{"code", Value(static_cast<int>(query::CodeOf(error)))},
                              {"msg", Value(error.message())},
                              {"id", Value(error.id())}});
  if (error.place().line != 0) {
    view.Set("line", Value(error.place().line));
    view.Set("column", Value(error.place().column));
  }
  // The line is not one of the statement, but of what it ran.
  if (!error.place().file.empty()) view.Set("procedure", Value(error.place().file));
  if (IsWorthRetrying(error)) view.Set("retry", Value(true));
  Value reason = ReasonView(error);
  if (reason.size() > 0) view.Set("reason", std::move(reason));
  return view;
}

// 1500000 as "1.5": the number in units of `unit`, without needless zeros.
std::string Fraction(uint64_t ns, uint64_t unit) {
  std::string text = fmt::format("{}.{:0{}}", ns / unit, ns % unit,
                                 unit == 1'000'000'000 ? 9
                                 : unit == 1'000'000   ? 6
                                                       : 3);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace

std::string GoDuration(uint64_t ns) {
  constexpr uint64_t kSecond = 1'000'000'000;
  if (ns == 0) return "0s";
  if (ns < 1000) return fmt::format("{}ns", ns);
  if (ns < 1'000'000) return Fraction(ns, 1000) + "µs";
  if (ns < kSecond) return Fraction(ns, 1'000'000) + "ms";
  const uint64_t minutes = ns / (60 * kSecond);
  const std::string seconds = Fraction(ns % (60 * kSecond), kSecond) + "s";
  if (minutes == 0) return seconds;
  if (minutes < 60) return fmt::format("{}m{}", minutes, seconds);
  return fmt::format("{}h{}m{}", minutes / 60, minutes % 60, seconds);
}

std::string_view QueryStatusText(const QueryOutcome& outcome, bool has_head) {
  if (outcome.errors.empty()) return "success";
  const Code code = outcome.errors.front().code();
  if (outcome.ended_early && code == Code::kTimeout) return "timeout";
  if (outcome.ended_early && code == Code::kCancelled) return "stopped";
  return has_head ? "errors" : "fatal";
}

json::Value ErrorsView(const std::vector<Status>& errors) {
  Value list = Value::EmptyArray();
  for (const Status& error : errors) list.Append(ErrorView(error));
  return list;
}

json::Value WarningsView(const std::vector<query::Warning>& warnings) {
  Value list = Value::EmptyArray();
  for (const query::Warning& warning : warnings) {
    list.Append(Value::Object(
        {{"code", Value(static_cast<int>(warning.code))}, {"msg", Value(warning.message)}}));
  }
  return list;
}

QueryAnswer::QueryAnswer(std::string request_id, const QueryParameters& parameters)
    : request_id_(std::move(request_id)),
      metrics_(parameters.metrics),
      signature_(parameters.signature),
      cdb2_rows_(parameters.cdb2_rows),
      time_zone_(parameters.time_zone) {}

Value QueryAnswer::Metrics(const QueryOutcome& outcome) const {
  Value metrics = Value::Object({{"elapsedTime", Value(GoDuration(outcome.elapsed_ns))},
                                 {"executionTime", Value(GoDuration(outcome.execution_ns))},
                                 {"resultCount", Value::Unsigned(rows_)},
                                 {"resultSize", Value::Unsigned(row_bytes_)},
                                 {"serviceLoad", Value::Unsigned(outcome.load)}});
  if (outcome.mutations > 0) metrics.Set("mutationCount", Value::Unsigned(outcome.mutations));
  if (outcome.sorted > 0) metrics.Set("sortCount", Value::Unsigned(outcome.sorted));
  if (!outcome.errors.empty()) {
    metrics.Set("errorCount", Value::Unsigned(outcome.errors.size()));
  }
  if (!outcome.warnings.empty()) {
    metrics.Set("warningCount", Value::Unsigned(outcome.warnings.size()));
  }
  return metrics;
}

}  // namespace sluice::service
