// Values as bytes whose memcmp order is the order of Compare, for index keys. A key is a sequence
// of parts, each ascending or descending; parts delimit themselves, so anything may follow them.
// The format is in key_encoding.cc and docs/formats/keys.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "json/value.h"

namespace sluice::json {

enum class Direction : uint8_t { kAscending, kDescending };

// Appends one part. Error key.too_deep for a value nested more than kMaxDepth levels; then `out` is
// unchanged.
Status AppendKeyPart(const Value& value, Direction direction, std::string* out);

// Reads one part off the front of `key`. The value compares equal to the one that was encoded, but
// may be another kind of number and its objects are sorted. Error key.corrupt.
Result<Value> TakeKeyPart(std::string_view* key, Direction direction);

}  // namespace sluice::json
