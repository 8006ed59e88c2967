// Values as text and text as values, the way data mappings convert them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

// How many arrays and objects are inside each other in `value`.
int DepthOf(const json::Value& value);

}  // namespace sluice::flow
