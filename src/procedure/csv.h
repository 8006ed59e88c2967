// Comma-separated values, RFC 4180.
#pragma once

#include <string_view>

#include "base/status.h"
#include "json/value.h"

namespace sluice::procedure {

// An array of arrays of strings. Error procedure.csv.
Result<json::Value> ParseCsv(std::string_view text);

}  // namespace sluice::procedure
