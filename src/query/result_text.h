// Values as the text of query results, which ENCODE_JSON and TO_STRING give too: JSON whose numbers
// have no exponent, in which NaN and the infinities are the strings "NaN", "+Infinity" and
// "-Infinity", and MISSING in an array is null.
#pragma once

#include <string>

#include "json/value.h"

namespace sluice::query {

// `indent` is the number of spaces per level; 0 prints on one line without blanks.
void AppendResult(const json::Value& value, std::string* out, int indent = 0);
std::string ResultText(const json::Value& value);

}  // namespace sluice::query
