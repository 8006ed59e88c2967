// The text of an embedded SQL++ statement: its end, and its forms for SQL++ and for JavaScript.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::function {

// The length of the statement at the start of `text`: up to the first semicolon, or to a closing
// bracket that the statement did not open, outside of strings, quoted names and comments. Empty if
// there is neither. Comments are those of SQL++ (-- and /* */) and of JavaScript (//).
std::optional<size_t> SqlLength(std::string_view text);

// The statement with blanks in place of each byte of its comments, so that places stay the same.
// Hints (/*+ and --+) are kept.
std::string WithoutComments(std::string_view sql);

// A JavaScript expression, in as many lines as `sql` has, whose value is that text.
std::string AsJavaScriptString(std::string_view sql);

}  // namespace sluice::function
