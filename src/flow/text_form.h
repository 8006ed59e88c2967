// Values as text and text as values, the way data mappings convert them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "json/value.h"

namespace sluice::flow {

// Without blanks at both ends.
std::string_view Trim(std::string_view text);
bool EqualsIgnoringCase(std::string_view a, std::string_view b);  // of ASCII letters
std::string LowerCase(std::string_view text);

// A value as text: strings as they are, bytes as UTF-8, maps and lists as JSON, nothing as "null".
std::string TextOf(const json::Value& value);

// The name of a value's type as Event Script's messages have it: Map, List, String, Integer, Long,
// Double, Boolean, byte[], null.
std::string_view TypeNameOf(const json::Value& value);

// Numbers, or text that is one. A whole number is cut at the point.
std::optional<int64_t> WholeNumberOf(const json::Value& value);
std::optional<double> NumberOf(const json::Value& value);
std::optional<int64_t> ParseWholeNumber(std::string_view text);
std::optional<double> ParseNumber(std::string_view text);
// `1000`, `1000 ms`, `2s`: milliseconds if there is no unit.
std::optional<uint64_t> ParseDelayMs(std::string_view text);

// How deep maps and lists of a flow may be inside each other. Less than json::kMaxDepth, so that a
// run's state, which has them in it, can be stored as JSON.
inline constexpr int kMaxNesting = 120;
// How large a value may be as text, roughly. Parts that are shared count each time: a loop that
// doubles a value must end before somebody prints it.
inline constexpr size_t kMaxValueBytes = 32 << 20;

// Errors that abort a flow: flow.too_large, and flow.too_deep if the value together with the levels
// above it is too deep.
Status CheckSize(const json::Value& value, size_t depth_above = 0);

}  // namespace sluice::flow
