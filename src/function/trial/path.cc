#include "function/trial/path.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "json/print.h"

namespace sluice::function::trial {
namespace {

constexpr size_t kMaxShownBytes = 300;

bool IsPlain(std::string_view name) {
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  return !name.empty() && std::ranges::all_of(name, plain) &&
         !std::isdigit(static_cast<unsigned char>(name.front()));
}

}  // namespace

std::string Below(const std::string& where, std::string_view name) {
  if (IsPlain(name)) return where.empty() ? std::string(name) : fmt::format("{}.{}", where, name);
  std::string quoted;
  json::AppendQuoted(name, &quoted);
  return fmt::format("{}[{}]", where, quoted);
}

std::string Below(const std::string& where, size_t index) {
  return fmt::format("{}[{}]", where, index);
}

std::string Short(const json::Value& value) {
  std::string text = json::ToText(value);
  if (text.size() <= kMaxShownBytes) return text;
  size_t end = kMaxShownBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

}  // namespace sluice::function::trial
