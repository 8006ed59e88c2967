// Makes the URL of a function's request, which is always below the URL of its binding.
#pragma once

#include <string>
#include <string_view>

namespace sluice::function {

// Adds `path` and `query` (without its '?') to the binding's URL. A path that would leave the
// binding by dot segments, in whatever form, is left out as a whole: the request goes to the
// binding's own URL. Control characters, spaces and bytes above ASCII are percent-encoded, and
// nothing else is. Returns an empty text if the binding's URL can't be read or the path is too
// long.
std::string RequestUrl(std::string_view binding, std::string_view path, std::string_view query);

}  // namespace sluice::function
