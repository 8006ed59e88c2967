#include "flow/builtin.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "flow/expression.h"
#include "flow/text_form.h"

namespace sluice::flow {
namespace {

using json::Value;

enum Decision : int { kAgain = 1, kGiveUp = 2, kOtherWay = 3 };

BuiltinAnswer NoOp(const Value& headers, const Value& body, uint64_t) {
  return {200, headers, body, 0};
}

BuiltinAnswer Echo(const Value& headers, const Value& body, uint64_t) {
  return {200, Value::EmptyObject(), Value::Object({{"headers", headers}, {"body", body}}), 0};
}

BuiltinAnswer HandleException(const Value&, const Value& body, uint64_t) {
  Value made = Value::Object({{"type", "error"}});
  made.Set("status", WholeNumberOf(body["status"]).value_or(500));
  made.Set("message", body["message"]);
  return {200, Value::EmptyObject(), std::move(made), 0};
}

int64_t NumberAt(const Value& body, std::string_view key, int64_t otherwise) {
  return WholeNumberOf(body[key]).value_or(otherwise);
}

// "401, 403-404", or a list of such.
bool IsAmong(int64_t status, const Value& codes) {
  if (codes.is_array()) {
    return std::any_of(codes.items().begin(), codes.items().end(),
                       [&](const Value& each) { return IsAmong(status, each); });
  }
  if (codes.is_missing() || codes.is_null()) return false;
  const std::string text = TextOf(codes);
  for (const std::string_view part : SplitArguments(text)) {
    const size_t dash = part.find('-');
    const auto from = ParseWholeNumber(part.substr(0, dash));
    const auto to = dash == part.npos ? from : ParseWholeNumber(part.substr(dash + 1));
    if (from && to && *from > 200 && status >= *from && status <= *to) return true;
  }
  return false;
}

Value Resting(int64_t backoff_ms, int64_t now_ms, int64_t cumulative) {
  const int64_t seconds = std::max<int64_t>(1, (backoff_ms - now_ms) / 1000);
  return Value::Object(
      {{"decision", kGiveUp},
       {"status", 503},
       {"message",
        fmt::format("Service temporarily not available - please try again in {} second{}", seconds,
                    seconds == 1 ? "" : "s")},
       {"backoff", backoff_ms},
       {"cumulative", cumulative}});
}

}  // namespace

BuiltinAnswer HandleResilience(const Value&, const Value& body, uint64_t now) {
  constexpr int64_t kLeastDelayMs = 10;
  constexpr int64_t kMostSeconds = 86'400;
  const auto now_ms = static_cast<int64_t>(now);
  BuiltinAnswer answer;
  int64_t cumulative = NumberAt(body, "cumulative", 0);
  if (const auto backoff = WholeNumberOf(body["backoff"])) {
    if (now_ms < *backoff) {
      answer.body = Resting(*backoff, now_ms, cumulative);
      return answer;
    }
    cumulative = 0;
  }
  const int64_t status = NumberAt(body, "status", 200);
  if (status == 200) {
    answer.body = Value::Object({{"decision", kAgain}, {"cumulative", cumulative}});
    return answer;
  }
  const int64_t trigger = NumberAt(body, "backoff_trigger", 0);
  const int64_t rest_s = std::min(NumberAt(body, "backoff_seconds", 0), kMostSeconds);
  if (trigger > 0 && rest_s > 0 && ++cumulative > trigger) {
    answer.body = Resting(now_ms + rest_s * 1000, now_ms, cumulative);
    return answer;
  }
  const int64_t attempt = std::max<int64_t>(0, NumberAt(body, "attempt", 0)) + 1;
  answer.body = Value::Object({{"attempt", attempt}, {"cumulative", cumulative}});
  if (attempt > NumberAt(body, "max_attempts", 1)) {
    answer.body.Set("decision", static_cast<int>(kGiveUp));
    answer.body.Set("status", status);
    answer.body.Set("message", body["message"]);
    return answer;
  }
  const bool other = IsAmong(status, body["alternative"]);
  answer.body.Set("decision", static_cast<int>(other ? kOtherWay : kAgain));
  if (attempt > 1) {
    answer.hold_next_ms =
        static_cast<uint64_t>(std::max(kLeastDelayMs, NumberAt(body, "delay", kLeastDelayMs)));
  }
  return answer;
}

Builtin FindBuiltin(std::string_view route) {
  constexpr std::pair<std::string_view, Builtin> kBuiltins[] = {
      {"no.op", NoOp},
      {"echo", Echo},
      {"simple.exception.handler", HandleException},
      {"resilience.handler", HandleResilience}};
  for (const auto& [name, builtin] : kBuiltins) {
    if (name == route) return builtin;
  }
  return nullptr;
}

}  // namespace sluice::flow
