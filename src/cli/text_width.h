// How many columns of a terminal a text takes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::cli {

// Wide characters (Chinese, Japanese, Korean, pictures) take two columns, combining ones none.
size_t TextWidth(std::string_view utf8);
// The text, cut to at most `width` columns; a cut text ends with an ellipsis.
std::string CutToWidth(std::string_view utf8, size_t width);

}  // namespace sluice::cli
