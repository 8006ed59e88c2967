// JSON text into values: RFC 8259 to the letter, with these choices. Integers that fit are int64,
// other numbers are doubles that print as they were written, whatever their size. If a name is
// repeated, the last field counts. An unpaired surrogate escape is read as U+FFFD.
//
// Errors: json.invalid with line and column (in characters, from 1), json.too_deep (more than
// kMaxDepth levels), json.too_large.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/status.h"
#include "json/value.h"

namespace sluice::json {

// The largest document that the database keeps.
inline constexpr size_t kMaxDocumentBytes = 20 << 20;

struct ParseOptions {
  size_t max_bytes = kMaxDocumentBytes;
};

Result<Value> Parse(std::string_view text, const ParseOptions& options = {});

// Whether Parse would succeed, and its error if not, at the speed of simdjson.
Status Validate(std::string_view text, const ParseOptions& options = {});

}  // namespace sluice::json
