#include "json/simd.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include <simdjson.h>

#include "json/value.h"

namespace sluice::json {
namespace {

// Buffers that a larger document needed are given back after it.
constexpr size_t kKeptBytes = 1 << 20;

// simdjson reads up to SIMDJSON_PADDING bytes past the end, so the text is copied behind itself:
// some 20 ns per KB, and reading past a caller's buffer is not ours to do.
struct ThreadParser {
  bool Accepts(std::string_view text) {
    if (text.size() > capacity && !Reserve(text.size())) return false;
    std::memcpy(buffer.get(), text.data(), text.size());
    std::memset(buffer.get() + text.size(), ' ', simdjson::SIMDJSON_PADDING);
    const bool accepted = !parser.parse(buffer.get(), text.size(), false).error();
    if (capacity > kKeptBytes) *this = ThreadParser();
    return accepted;
  }

  bool Reserve(size_t size) {
    const size_t wanted = std::max(std::min(size * 2, kKeptBytes), size);
    if (parser.allocate(wanted, kMaxDepth) != simdjson::SUCCESS) return false;
    buffer = std::make_unique_for_overwrite<char[]>(wanted + simdjson::SIMDJSON_PADDING);
    capacity = wanted;
    return true;
  }

  simdjson::dom::parser parser;
  std::unique_ptr<char[]> buffer;
  size_t capacity = 0;
};

}  // namespace

bool SimdAccepts(std::string_view text) {
  static thread_local ThreadParser parser;
  return !text.empty() && parser.Accepts(text);
}

bool IsUtf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

}  // namespace sluice::json
