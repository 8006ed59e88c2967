// traceparent: version "-" trace-id "-" parent-id "-" flags, in lower case hexadecimal digits. A
// later version may have more behind them.
#include "flow_engine/trace_context.h"

#include <algorithm>
#include <functional>

#include "base/bytes.h"
#include "base/random.h"

namespace sluice::flow_engine {
namespace {

constexpr size_t kIdDigits = 32;
constexpr size_t kSpanDigits = 16;
constexpr size_t kParentLength = 2 + 1 + kIdDigits + 1 + kSpanDigits + 1 + 2;

bool IsHex(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool IsZero(std::string_view text) { return text.find_first_not_of('0') == std::string_view::npos; }

uint64_t HexNumber(std::string_view text) {
  uint64_t number = 0;
  for (const char c : text) {
    number = number << 4 | static_cast<uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  return number;
}

std::string HexOf(uint64_t number) {
  std::string bytes;
  AppendU64(&bytes, number);
  return ToHex(bytes);
}

// Spreads the bits of a number over all of it.
uint64_t Mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

std::optional<TraceLink> ParseTraceParent(std::string_view text) {
  if (text.size() < kParentLength) return std::nullopt;
  const std::string_view version = text.substr(0, 2);
  const std::string_view id = text.substr(3, kIdDigits);
  const std::string_view parent = text.substr(4 + kIdDigits, kSpanDigits);
  const std::string_view flags = text.substr(5 + kIdDigits + kSpanDigits, 2);
  if (text[2] != '-' || text[3 + kIdDigits] != '-' || text[4 + kIdDigits + kSpanDigits] != '-') {
    return std::nullopt;
  }
  if (!IsHex(version) || !IsHex(id) || !IsHex(parent) || !IsHex(flags)) return std::nullopt;
  if (version == "ff" || IsZero(id) || IsZero(parent)) return std::nullopt;
  const bool longer = text.size() > kParentLength;
  if (longer && (version == "00" || text[kParentLength] != '-')) return std::nullopt;
  TraceLink link;
  link.id = id;
  link.parent = HexNumber(parent);
  link.flags = static_cast<uint8_t>(HexNumber(flags));
  return link;
}

bool IsTraceId(std::string_view text) {
  return !text.empty() && text.size() <= kMaxTraceId &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

bool IsWireTraceId(std::string_view id) {
  return id.size() == kIdDigits && IsHex(id) && !IsZero(id);
}

std::string WireTraceId(std::string_view id) {
  if (IsWireTraceId(id)) return std::string(id);
  std::string plain;  // a UUID without its hyphens
  std::ranges::copy_if(id, std::back_inserter(plain), [](char c) { return c != '-'; });
  if (IsWireTraceId(plain)) return plain;
  const uint64_t hash = std::hash<std::string_view>()(id);
  return HexOf(Mixed(hash) | 1) + HexOf(Mixed(hash + 1));
}

std::string SpanText(uint64_t span) { return HexOf(span); }

std::string TraceParentOf(const TraceContext& context) {
  return "00-" + WireTraceId(context.id) + "-" + SpanText(context.span) + "-" +
         ToHex(std::string(1, static_cast<char>(context.flags)));
}

uint64_t SpanOf(std::string_view run, uint64_t call) {
  return std::max<uint64_t>(1, Mixed(std::hash<std::string_view>()(run) + call));
}

std::string NewTraceId() { return ToHex(IdentifierBytes(kIdDigits / 2)); }

}  // namespace sluice::flow_engine
