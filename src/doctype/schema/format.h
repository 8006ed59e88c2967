// The formats of JSON Schema that can be checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice::doctype {

enum class Format : uint8_t {
  kNone,  // known, and not checked
  kDateTime,
  kDate,
  kTime,
  kDuration,
  kEmail,
  kHostname,
  kIpv4,
  kIpv6,
  kUri,
  kUriReference,
  kUuid,
  kJsonPointer,
  kRegex,
};

// Nothing for a name that is not known.
std::optional<Format> FormatOf(std::string_view name);

bool HasFormat(Format format, std::string_view text);

}  // namespace sluice::doctype
