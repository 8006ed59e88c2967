// When a document expires, as clients say it: "30s" or "7d" from now, "2026-11-15T12:00:00Z", or
// milliseconds of Unix time; "0" for never.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.h"
#include "json/value.h"

namespace sluice::rest {

// Unix time in milliseconds, 0 for never. document.bad_expiry otherwise, also for a moment that is
// past or after the year 9999.
Result<uint64_t> ParseExpiry(std::string_view text, uint64_t now_ms);
// The same of a JSON string or integer; missing or null: nothing.
Result<std::optional<uint64_t>> ExpiryField(const json::Value& object, uint64_t now_ms);

}  // namespace sluice::rest
