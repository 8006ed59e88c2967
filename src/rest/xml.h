// XML of requests and answers of REST automation, as values.
//
// An element with elements is an object of them, those of one name a list; one without is a text.
// Attributes are fields next to the elements, and the text of an element that has some is `value`.
// The root's name does not count.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "json/value.h"

namespace sluice::rest {

// No document types, so no entities but those of XML itself. Error flow.bad_body, with the line.
Result<json::Value> ParseXml(std::string_view text);
// As <result>...</result>. Items of a list become elements of the list's name.
std::string PrintXml(const json::Value& value);
// <, > and & and quotes, for XML and HTML.
std::string EscapeMarkup(std::string_view text);

}  // namespace sluice::rest
