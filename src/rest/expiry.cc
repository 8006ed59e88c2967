#include "rest/expiry.h"

#include <charconv>
#include <chrono>

#include "base/quantity.h"
#include "json/temporal.h"
#include "rest/body.h"

namespace sluice::rest {
namespace {

constexpr uint64_t kLastMs = 253'402'300'799'999;  // the end of the year 9999

std::unexpected<Status> BadExpiry(std::string_view text) {
  return Fail(
      Code::kInvalidArgument, "document.bad_expiry",
      "expected a duration (30s, 7d), a time to come (2026-11-15T12:00:00Z) or Unix time in "
      "milliseconds, or 0 for never, found '{}'",
      text);
}

// Takes digits of a fixed width off the front.
std::optional<int> TakeNumber(std::string_view* text, size_t width) {
  if (text->size() < width) return std::nullopt;
  int number = 0;
  for (size_t i = 0; i < width; ++i) {
    const char c = (*text)[i];
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  text->remove_prefix(width);
  return number;
}

bool Take(std::string_view* text, char c) {
  if (!text->starts_with(c)) return false;
  text->remove_prefix(1);
  return true;
}

// ".123" and longer: milliseconds, the rest cut off.
std::optional<int> TakeFraction(std::string_view* text) {
  if (!Take(text, '.')) return 0;
  int ms = 0;
  size_t digits = 0;
  while (!text->empty() && text->front() >= '0' && text->front() <= '9') {
    if (digits < 3) ms = ms * 10 + (text->front() - '0');
    ++digits;
    text->remove_prefix(1);
  }
  if (digits == 0) return std::nullopt;
  for (; digits < 3; ++digits) ms *= 10;
  return ms;
}

// "Z", "+01:00": minutes east of Greenwich.
std::optional<int> TakeZone(std::string_view* text) {
  if (Take(text, 'Z')) return 0;
  const bool east = Take(text, '+');
  if (!east && !Take(text, '-')) return std::nullopt;
  const auto hours = TakeNumber(text, 2);
  if (!hours || !Take(text, ':')) return std::nullopt;
  const auto minutes = TakeNumber(text, 2);
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return (east ? 1 : -1) * (*hours * 60 + *minutes);
}

std::optional<uint64_t> ParseIsoMs(std::string_view text) {
  const auto year = TakeNumber(&text, 4);
  if (!year || !Take(&text, '-')) return std::nullopt;
  const auto month = TakeNumber(&text, 2);
  if (!month || !Take(&text, '-')) return std::nullopt;
  const auto day = TakeNumber(&text, 2);
  if (!day || !Take(&text, 'T')) return std::nullopt;
  const auto hour = TakeNumber(&text, 2);
  if (!hour || !Take(&text, ':')) return std::nullopt;
  const auto minute = TakeNumber(&text, 2);
  if (!minute || !Take(&text, ':')) return std::nullopt;
  const auto second = TakeNumber(&text, 2);
  const auto ms = TakeFraction(&text);
  const auto zone = TakeZone(&text);
  if (!second || !ms || !zone || !text.empty()) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  const auto moment = std::chrono::sys_days(date) + std::chrono::hours(*hour) +
                      std::chrono::minutes(*minute - *zone) + std::chrono::seconds(*second) +
                      std::chrono::milliseconds(*ms);
  const int64_t unix_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(moment.time_since_epoch()).count();
  if (unix_ms < 0) return std::nullopt;
  return static_cast<uint64_t>(unix_ms);
}

std::optional<uint64_t> ParseNumberMs(std::string_view text) {
  uint64_t ms = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ms);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return ms;
}

}  // namespace

Result<uint64_t> ParseExpiry(std::string_view text, uint64_t now_ms) {
  std::optional<uint64_t> moment = ParseNumberMs(text);
  if (moment == 0u) return 0;
  if (!moment) moment = ParseIsoMs(text);
  if (!moment) {
    const Result<uint64_t> duration = ParseDurationMs(text);
    if (duration && *duration > 0 && *duration <= kLastMs) moment = now_ms + *duration;
  }
  if (!moment || *moment <= now_ms || *moment > kLastMs) return BadExpiry(text);
  return *moment;
}

Result<std::optional<uint64_t>> ExpiryField(const json::Value& object, uint64_t now_ms) {
  const json::Value& value = object["expiry"];
  if (value.is_missing() || value.is_null()) return std::nullopt;
  if (value.is_string()) return ParseExpiry(value.AsString(), now_ms);
  if (value.is_int()) return ParseExpiry(std::to_string(value.AsInt()), now_ms);
  return BadField("expiry", "a string or an integer", value);
}

}  // namespace sluice::rest
