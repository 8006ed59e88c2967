// UTF-8 checks.
#pragma once

#include <string_view>

namespace sluice {

// True for well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
bool IsValidUtf8(std::string_view text);

}  // namespace sluice
