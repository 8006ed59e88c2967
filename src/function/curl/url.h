// The URL of a request that a function makes: below the URL of its binding, whatever the handler
// asks for.
#pragma once

#include <string>
#include <string_view>

namespace sluice::function {

// `path` is put below the binding's URL and `query` (without its '?') behind it. A path that would
// leave the binding, by dot segments however they are written, is left out as a whole: the request
// goes to the binding's own URL. What can't stand in a URL (control characters, spaces, bytes above
// ASCII) is percent-encoded, nothing else is. Empty when there is no such URL: the
// binding's can't be read, or the path is too long.
std::string RequestUrl(std::string_view binding, std::string_view path, std::string_view query);

}  // namespace sluice::function
