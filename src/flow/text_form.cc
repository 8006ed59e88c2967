#include "flow/text_form.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/quantity.h"
#include "base/utf8.h"
#include "json/print.h"

namespace sluice::flow {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

std::optional<int64_t> Cut(double value) {
  if (!(std::abs(value) < 9.2e18)) return std::nullopt;
  return static_cast<int64_t>(value);
}

struct Measure {
  size_t bytes = 0;
  bool too_deep = false;

  // Stops as soon as it is too much.
  void Add(const json::Value& value, int depth) {
    bytes += sizeof value;
    if (value.is_string()) bytes += value.AsString().size();
    if (value.is_bytes()) bytes += value.AsBytes().size();
    if (!value.is_array() && !value.is_object()) return;
    if (depth >= kMaxNesting) too_deep = true;
    for (const json::Value& item : value.items()) {
      if (too_deep || bytes > kMaxValueBytes) return;
      Add(item, depth + 1);
    }
    for (const json::Field& field : value.fields()) {
      if (too_deep || bytes > kMaxValueBytes) return;
      bytes += field.name().size();
      Add(field.value, depth + 1);
    }
  }
};

}  // namespace

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

std::string LowerCase(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = Lower(c);
  return out;
}

std::string TextOf(const json::Value& value) {
  if (value.is_string()) return std::string(value.AsString());
  if (value.is_missing()) return "null";
  if (value.is_bytes() && IsValidUtf8(value.AsBytes())) return std::string(value.AsBytes());
  std::string text = json::ToText(value);
  const bool quoted = value.is_bytes() || value.is_datetime() || value.is_interval();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

std::string_view TypeNameOf(const json::Value& value) {
  switch (value.type()) {
    case json::Type::kMissing:
    case json::Type::kNull:
      return "null";
    case json::Type::kBool:
      return "Boolean";
    case json::Type::kInt: {
      const int64_t number = value.AsInt();
      const bool small = number >= std::numeric_limits<int32_t>::min() &&
                         number <= std::numeric_limits<int32_t>::max();
      return small ? "Integer" : "Long";
    }
    case json::Type::kDouble:
      return "Double";
    case json::Type::kDecimal:
      return "Decimal";
    case json::Type::kDatetime:
      return "Date";
    case json::Type::kInterval:
      return "Interval";
    case json::Type::kString:
      return "String";
    case json::Type::kArray:
      return "List";
    case json::Type::kObject:
      return "Map";
    case json::Type::kBytes:
      return "byte[]";
  }
  return "null";
}

std::optional<int64_t> ParseWholeNumber(std::string_view text) {
  text = Trim(text);
  if (const size_t point = text.find('.'); point != text.npos) {
    if (!ParseNumber(text)) return std::nullopt;
    text = text.substr(0, point);
  }
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> ParseNumber(std::string_view text) {
  text = Trim(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<int64_t> WholeNumberOf(const json::Value& value) {
  if (value.is_int()) return value.AsInt();
  if (value.is_number()) return Cut(value.ToDouble());
  if (value.is_string()) return ParseWholeNumber(value.AsString());
  if (value.is_bytes()) return ParseWholeNumber(value.AsBytes());
  return std::nullopt;
}

std::optional<double> NumberOf(const json::Value& value) {
  if (value.is_number()) return value.ToDouble();
  if (value.is_string()) return ParseNumber(value.AsString());
  if (value.is_bytes()) return ParseNumber(value.AsBytes());
  return std::nullopt;
}

std::optional<uint64_t> ParseDelayMs(std::string_view text) {
  std::string compact(text);
  std::erase(compact, ' ');
  const bool bare = compact.find_first_not_of("0123456789") == std::string::npos;
  const auto ms = ParseDurationMs(bare ? compact + "ms" : compact);
  if (!ms) return std::nullopt;
  return *ms;
}

Status CheckSize(const json::Value& value, size_t depth_above) {
  Measure measure;
  measure.Add(value, static_cast<int>(depth_above));
  if (measure.too_deep) {
    return Error(Code::kInvalidArgument, "flow.too_deep",
                 "maps and lists are nested more than {} deep", kMaxNesting);
  }
  if (measure.bytes > kMaxValueBytes) {
    return Error(Code::kTooLarge, "flow.too_large", "a value has more than {} bytes",
                 kMaxValueBytes);
  }
  return OkStatus();
}

}  // namespace sluice::flow
