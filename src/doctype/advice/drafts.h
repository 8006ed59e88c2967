// Drafts of migrations in JavaScript, for changes that steps without code can't make. Each is the
// body of a step's function, which changes `doc`. A draft is empty if the path does not lead to a
// field.
#pragma once

#include <string>
#include <string_view>

#include "json/value.h"

namespace sluice::doctype {

// Whether JavaScript takes `name` without quotes, and the text in quotes.
bool IsIdentifier(std::string_view name);
std::string Quoted(std::string_view text);

// Removes the field where it is null, "", [] or {}.
std::string DraftDropEmpty(std::string_view path);
// Removes it where it has this value.
std::string DraftDropValue(std::string_view path, const json::Value& value);
// A value that all elements of an array have goes beside the array: lines[].vat to linesVat.
std::string DraftHoist(std::string_view path);
// Each element of an array becomes `expression` of it, which is called v: dates[].
std::string DraftMapElements(std::string_view path, std::string_view expression);
// Turns a value that is not an array into an array of one element.
std::string DraftWrap(std::string_view path);

}  // namespace sluice::doctype
