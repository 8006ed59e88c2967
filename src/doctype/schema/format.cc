#include "doctype/schema/format.h"

#include <algorithm>
#include <utility>

#include <arpa/inet.h>
#include <re2/re2.h>

#include "base/ascii.h"
#include "doctype/dates.h"

namespace sluice::doctype {
namespace {

constexpr std::pair<std::string_view, Format> kFormats[] = {
    {"date-time", Format::kDateTime},
    {"date", Format::kDate},
    {"time", Format::kTime},
    {"duration", Format::kDuration},
    {"email", Format::kEmail},
    {"hostname", Format::kHostname},
    {"ipv4", Format::kIpv4},
    {"ipv6", Format::kIpv6},
    {"uri", Format::kUri},
    {"uri-reference", Format::kUriReference},
    {"uuid", Format::kUuid},
    {"json-pointer", Format::kJsonPointer},
    {"regex", Format::kRegex},
    // The formats of the specification and of OpenAPI.
    {"idn-email", Format::kNone},
    {"idn-hostname", Format::kNone},
    {"iri", Format::kNone},
    {"iri-reference", Format::kNone},
    {"uri-template", Format::kNone},
    {"relative-json-pointer", Format::kNone},
    {"int32", Format::kNone},
    {"int64", Format::kNone},
    {"float", Format::kNone},
    {"double", Format::kNone},
    {"byte", Format::kNone},
    {"binary", Format::kNone},
    {"password", Format::kNone},
};

bool IsHex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
}

// Labels of 1 to 63 letters, digits and inner hyphens.
bool IsHostname(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  size_t label = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != '.') {
      if (!IsAlnum(text[i]) && text[i] != '-') return false;
      continue;
    }
    const std::string_view part = text.substr(label, i - label);
    if (part.empty() || part.size() > 63 || part.front() == '-' || part.back() == '-') return false;
    label = i + 1;
  }
  return true;
}

bool IsIp(int family, std::string_view text) {
  unsigned char bytes[16];
  return text.size() < 64 && inet_pton(family, std::string(text).c_str(), bytes) == 1;
}

bool IsEmail(std::string_view text) {
  const size_t at = text.rfind('@');
  if (at == std::string_view::npos || at == 0 || text.size() > 320) return false;
  const std::string_view local = text.substr(0, at);
  const std::string_view domain = text.substr(at + 1);
  if (domain.starts_with('[') && domain.ends_with(']')) {
    const std::string_view address = domain.substr(1, domain.size() - 2);
    const bool v6 = address.starts_with("IPv6:");
    if (!(v6 ? IsIp(AF_INET6, address.substr(5)) : IsIp(AF_INET, address))) return false;
  } else if (!IsHostname(domain)) {
    return false;
  }
  if (local.size() >= 2 && local.front() == '"' && local.back() == '"') return true;
  if (local.front() == '.' || local.back() == '.') return false;
  if (local.find("..") != std::string_view::npos) return false;
  return std::ranges::all_of(local, [](char c) {
    return IsAlnum(c) || std::string_view(".!#$%&'*+/=?^_`{|}~-").find(c) != std::string_view::npos;
  });
}

bool IsUuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !IsHex(text[i])) return false;
  }
  return true;
}

bool IsUriReference(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size() || !IsHex(text[i + 1]) || !IsHex(text[i + 2])) return false;
    } else if (!IsAlnum(c) &&
               std::string_view("-._~:/?#[]@!$&'()*+,;=").find(c) == std::string_view::npos) {
      return false;
    }
  }
  return std::ranges::count(text, '#') <= 1;
}

bool IsUri(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view scheme = text.substr(0, colon);
  const bool letter = IsAlnum(scheme.front()) && (scheme.front() < '0' || scheme.front() > '9');
  return letter && IsUriReference(text) && std::ranges::all_of(scheme, [](char c) {
           return IsAlnum(c) || c == '+' || c == '-' || c == '.';
         });
}

bool IsJsonPointer(std::string_view text) {
  if (!text.empty() && text.front() != '/') return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '~') continue;
    if (i + 1 == text.size() || (text[i + 1] != '0' && text[i + 1] != '1')) return false;
  }
  return true;
}

bool IsDuration(std::string_view text) {
  static const RE2 kDuration(
      "P(?:\\d+W|(?:\\d+Y(?:\\d+M(?:\\d+D)?)?|\\d+M(?:\\d+D)?|\\d+D)?"
      "(?:T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S))?)");
  return text.size() > 1 && RE2::FullMatch({text.data(), text.size()}, kDuration);
}

bool IsRegex(std::string_view text) {
  RE2::Options options;
  options.set_log_errors(false);
  return RE2({text.data(), text.size()}, options).ok();
}

}  // namespace

std::optional<Format> FormatOf(std::string_view name) {
  for (const auto& [known, format] : kFormats) {
    if (known == name) return format;
  }
  return std::nullopt;
}

bool HasFormat(Format format, std::string_view text) {
  switch (format) {
    case Format::kNone:
      return true;
    case Format::kDateTime:
      return ParseDateTime(text).has_value() && text[10] != ' ';
    case Format::kDate:
      return ParseDate(text).has_value();
    case Format::kTime:
      return ParseTime(text).has_value();
    case Format::kDuration:
      return IsDuration(text);
    case Format::kEmail:
      return IsEmail(text);
    case Format::kHostname:
      return IsHostname(text);
    case Format::kIpv4:
      return IsIp(AF_INET, text);
    case Format::kIpv6:
      return IsIp(AF_INET6, text);
    case Format::kUri:
      return IsUri(text);
    case Format::kUriReference:
      return IsUriReference(text);
    case Format::kUuid:
      return IsUuid(text);
    case Format::kJsonPointer:
      return IsJsonPointer(text);
    case Format::kRegex:
      return IsRegex(text);
  }
  return true;
}

}  // namespace sluice::doctype
