// The fast paths that simdjson gives; simd.cc is its only includer. Any thread: parsers are kept
// per thread.
#pragma once

#include <string_view>

namespace sluice::json {

// True if `text` is JSON of at most kMaxDepth levels. False does not mean that it isn't: simdjson
// refuses integers beyond 64 bits, numbers beyond double and unpaired surrogates, which JSON has.
bool SimdAccepts(std::string_view text);

bool IsUtf8(std::string_view text);

}  // namespace sluice::json
