#include "function/failure_settings.h"

#include <algorithm>

#include "function/failed_event.h"

namespace sluice::function {
namespace {

constexpr uint32_t kMaxRetries = 1000;
constexpr uint32_t kMaxDelayMs = 7 * 24 * 3'600'000;
constexpr uint32_t kMostFailures = 1'000'000;

// A class of failures, or the name of an error's class in JavaScript, which begins with a capital.
bool IsErrorClass(std::string_view text) {
  if (std::ranges::find(kProblemKinds, text) != std::end(kProblemKinds)) return true;
  const auto is_letter = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && text[0] >= 'A' && text[0] <= 'Z' && std::ranges::all_of(text, is_letter);
}

}  // namespace

bool IsFailureSetting(std::string_view name) {
  return std::ranges::find(kFailureSettings, name) != std::end(kFailureSettings);
}

void ReadFailureSettings(FieldReader& reader, Settings* settings) {
  failure::RetryPolicy& retry = settings->retry;
  reader.Number("retry_count", 0, kMaxRetries, &retry.count);
  reader.Number("retry_delay", 0, kMaxDelayMs, &retry.delay_ms);
  reader.Decimal("retry_backoff", 1, 100, &retry.backoff);
  reader.Number("retry_max_delay", 0, kMaxDelayMs, &retry.max_delay_ms);
  reader.Decimal("retry_jitter", 0, 1, &retry.jitter);
  reader.Texts("retry_on", &retry.on);
  for (const std::string& on : retry.on) {
    if (IsErrorClass(on)) continue;
    reader.Fail(
        Error(Code::kInvalidArgument, "function.invalid_definition",
              "{}: expected {}, or the name of an error's class such as CurlError, got '{}'",
              reader.Where("retry_on"), fmt::join(kProblemKinds, ", "), on));
  }
  reader.Number("max_failures", 1, kMostFailures, &settings->max_failures);
}

void PrintFailureSettings(const Settings& settings, json::Value* value) {
  const Settings defaults;
  const failure::RetryPolicy& retry = settings.retry;
  const auto print = [&](std::string_view name, const auto& given, const auto& fallback) {
    if (given != fallback) value->Set(name, json::Value(given));
  };
  print("retry_count", retry.count, defaults.retry.count);
  print("retry_delay", retry.delay_ms, defaults.retry.delay_ms);
  print("retry_backoff", retry.backoff, defaults.retry.backoff);
  print("retry_max_delay", retry.max_delay_ms, defaults.retry.max_delay_ms);
  print("retry_jitter", retry.jitter, defaults.retry.jitter);
  print("max_failures", settings.max_failures, defaults.max_failures);
  if (retry.on.empty()) return;
  json::Value on = json::Value::EmptyArray();
  for (const std::string& one : retry.on) on.Append(json::Value(one));
  value->Set("retry_on", std::move(on));
}

}  // namespace sluice::function
