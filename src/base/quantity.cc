#include "base/quantity.h"

#include <charconv>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace sluice {
namespace {

using Unit = std::pair<std::string_view, uint64_t>;

constexpr Unit kDurations[] = {
    {"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}};
constexpr Unit kBinarySizes[] = {
    {"TiB", 1ull << 40}, {"GiB", 1ull << 30}, {"MiB", 1ull << 20}, {"KiB", 1ull << 10}};
constexpr Unit kDecimalSizes[] = {
    {"TB", 1'000'000'000'000}, {"GB", 1'000'000'000}, {"MB", 1'000'000}, {"KB", 1000}, {"B", 1}};

struct NumberAndUnit {
  uint64_t number;
  std::string_view unit;
};

Result<NumberAndUnit> Split(std::string_view text, std::string_view expected) {
  uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) {
    return Fail(Code::kInvalidArgument, "quantity.invalid", "expected {}, got '{}'", expected,
                text);
  }
  return NumberAndUnit{number, text.substr(static_cast<size_t>(rest - text.data()))};
}

Result<uint64_t> Scale(uint64_t number, uint64_t factor, std::string_view text) {
  if (number > std::numeric_limits<uint64_t>::max() / factor) {
    return Fail(Code::kInvalidArgument, "quantity.invalid", "'{}' is too large", text);
  }
  return number * factor;
}

template <size_t n>
std::string FormatWith(const Unit (&units)[n], uint64_t value, std::string_view zero) {
  if (value == 0) return std::string(zero);
  for (const auto& [name, factor] : units) {
    if (value % factor == 0) return fmt::format("{}{}", value / factor, name);
  }
  return fmt::format("{}", value);
}

}  // namespace

Result<uint64_t> ParseDurationMs(std::string_view text) {
  constexpr std::string_view kExpected =
      "a duration such as 250ms, 5s, 10m, 2h or 7d (a whole number and a unit)";
  ASSIGN_OR_RETURN(const NumberAndUnit parts, Split(text, kExpected));
  if (parts.number == 0 && parts.unit.empty()) return 0;
  for (const auto& [name, factor] : kDurations) {
    if (parts.unit == name) return Scale(parts.number, factor, text);
  }
  return Fail(Code::kInvalidArgument, "quantity.invalid", "expected {}, got '{}'", kExpected, text);
}

Result<uint64_t> ParseSizeBytes(std::string_view text) {
  constexpr std::string_view kExpected = "a size in bytes such as 512, 64KiB, 20MiB or 1GiB";
  ASSIGN_OR_RETURN(const NumberAndUnit parts, Split(text, kExpected));
  if (parts.unit.empty()) return parts.number;
  for (const auto& [name, factor] : kBinarySizes) {
    if (parts.unit == name) return Scale(parts.number, factor, text);
  }
  for (const auto& [name, factor] : kDecimalSizes) {
    if (parts.unit == name) return Scale(parts.number, factor, text);
  }
  return Fail(Code::kInvalidArgument, "quantity.invalid", "expected {}, got '{}'", kExpected, text);
}

std::string FormatDurationMs(uint64_t ms) { return FormatWith(kDurations, ms, "0s"); }
std::string FormatSizeBytes(uint64_t bytes) { return FormatWith(kBinarySizes, bytes, "0"); }

}  // namespace sluice
