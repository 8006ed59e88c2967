#include "query/functions/duration.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "query/functions/text.h"

namespace sluice::query {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMinute = 60 * kSecond;
constexpr int64_t kHour = 60 * kMinute;

struct Unit {
  std::string_view name;
  int64_t nanos;
};
// Longer names before those that they start with.
constexpr Unit kUnits[] = {{"ns", 1},         {"us", 1000},   {"µs", 1000},   {"μs", 1000},
                           {"ms", 1'000'000}, {"s", kSecond}, {"m", kMinute}, {"h", kHour}};

// nanos / unit with as many digits as it needs: 1.5
std::string Fraction(uint64_t nanos, uint64_t unit) {
  std::string text = fmt::format("{}", nanos / unit);
  if (nanos % unit == 0) return text;
  size_t digits = 0;
  for (uint64_t u = unit; u > 1; u /= 10) ++digits;
  std::string rest = fmt::format("{:0{}}", nanos % unit, digits);
  rest.erase(rest.find_last_not_of('0') + 1);
  return text + "." + rest;
}

std::string Legacy(uint64_t nanos) {
  if (nanos == 0) return "0s";
  if (nanos < 1000) return fmt::format("{}ns", nanos);
  if (nanos < 1'000'000) return Fraction(nanos, 1000) + "µs";
  if (nanos < kSecond) return Fraction(nanos, 1'000'000) + "ms";
  std::string out;
  if (nanos >= kHour) out += fmt::format("{}h", nanos / kHour);
  if (nanos >= kMinute) out += fmt::format("{}m", nanos % kHour / kMinute);
  return out + Fraction(nanos % kMinute, kSecond) + "s";
}

// Nine digits behind the point, without groups of three zeros, but for the first.
std::string Grouped(std::string text) {
  for (int groups = 0; groups < 2 && text.ends_with("000"); ++groups) text.resize(text.size() - 3);
  return text;
}

std::optional<int64_t> Whole(double nanos) {
  if (!(std::abs(nanos) < 0x1p63)) return std::nullopt;
  return static_cast<int64_t>(nanos);
}

std::optional<double> TakeNumber(std::string_view* text) {
  double number = 0;
  const char first = text->empty() ? ' ' : (*text)[0];
  if ((first < '0' || first > '9') && first != '.') return std::nullopt;
  const auto [end, error] =
      std::from_chars(text->data(), text->data() + text->size(), number, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return number;
}

const Unit* TakeUnit(std::string_view* text) {
  for (const Unit& unit : kUnits) {
    if (!text->starts_with(unit.name)) continue;
    text->remove_prefix(unit.name.size());
    return &unit;
  }
  return nullptr;
}

// 1h30m2.5s
std::optional<double> ParseUnits(std::string_view text) {
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  double nanos = 0;
  while (!text.empty()) {
    const auto number = TakeNumber(&text);
    const Unit* unit = number ? TakeUnit(&text) : nullptr;
    if (unit == nullptr) return std::nullopt;
    nanos += *number * static_cast<double>(unit->nanos);
  }
  return nanos;
}

// [[h:]m:]s
std::optional<double> ParseInterval(std::string_view text) {
  double seconds = 0;
  for (int parts = 1;; ++parts) {
    const auto number = TakeNumber(&text);
    if (!number || parts > 3) return std::nullopt;
    seconds = seconds * 60 + *number;
    if (text.empty()) return seconds * kSecond;
    if (text[0] != ':' || std::trunc(*number) != *number) return std::nullopt;
    text.remove_prefix(1);
  }
}

std::optional<double> ParseUnsigned(std::string_view text, DurationStyle style) {
  if (style == DurationStyle::kLegacy || style == DurationStyle::kCompatible) {
    return ParseUnits(text);
  }
  const bool colons = text.find(':') != text.npos;
  if (style == DurationStyle::kSeconds && colons) return std::nullopt;
  const auto nanos = ParseInterval(text);
  return nanos || style != DurationStyle::kAny ? nanos : ParseUnits(text);
}

}  // namespace

std::optional<DurationStyle> FindDurationStyle(std::string_view name) {
  const std::string lower = ToLowerAscii(name);
  if (lower.empty() || lower == "default") return DurationStyle::kAny;
  if (lower == "legacy") return DurationStyle::kLegacy;
  if (lower == "interval") return DurationStyle::kInterval;
  if (lower == "compatible") return DurationStyle::kCompatible;
  if (lower == "seconds") return DurationStyle::kSeconds;
  return std::nullopt;
}

std::string PrintDuration(int64_t nanos, DurationStyle style) {
  const std::string sign = nanos < 0 ? "-" : "";
  const uint64_t size =
      nanos < 0 ? ~static_cast<uint64_t>(nanos) + 1 : static_cast<uint64_t>(nanos);
  switch (style) {
    case DurationStyle::kInterval:
      return sign +
             Grouped(fmt::format("{}:{:02}:{:02}.{:09}", size / kHour, size % kHour / kMinute,
                                 size % kMinute / kSecond, size % kSecond));
    case DurationStyle::kCompatible:
    case DurationStyle::kSeconds:
      return sign + Grouped(fmt::format("{}.{:09}", size / kSecond, size % kSecond)) +
             (style == DurationStyle::kCompatible ? "s" : "");
    default:
      return sign + Legacy(size);
  }
}

std::optional<int64_t> ParseDuration(std::string_view text, DurationStyle style) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const auto nanos = ParseUnsigned(text, style);
  return nanos ? Whole(std::round(negative ? -*nanos : *nanos)) : std::nullopt;
}

}  // namespace sluice::query
