// Percent-encoding and query strings.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/percent.h"

namespace sluice::http {

// Decodes %XX; with `plus_is_space` also '+'. Nothing when an escape is malformed.
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space = false);

// "a=1&b=&c" as decoded pairs in order; a name without '=' has an empty value. Nothing when an
// escape is malformed.
using QueryPairs = std::vector<std::pair<std::string, std::string>>;
std::optional<QueryPairs> ParseQuery(std::string_view query);

}  // namespace sluice::http
