// Base64 as in RFC 4648 section 4: the standard alphabet, padded with '='.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace sluice {

void AppendBase64(std::string_view bytes, std::string* out);
std::string ToBase64(std::string_view bytes);

// Padding is required, other characters and non-zero spare bits are refused, so that there is one
// text for each string of bytes. Error base64.invalid.
Result<std::string> FromBase64(std::string_view text);

}  // namespace sluice
