// Percent-encoding of parts of URLs.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

// Encodes everything but unreserved characters, so that the result is one path segment or one
// query value.
std::string PercentEncode(std::string_view text);

}  // namespace sluice
