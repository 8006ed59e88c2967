// More texts of Route::auth (access.h).
#pragma once

#include <string_view>

namespace sluice::rest {

// As kPublic and kKnown, whoever's page made the request: that was checked, or something else
// protects the route.
inline constexpr std::string_view kPublicToPages = "public, any page";
inline constexpr std::string_view kKnownToPages = "known, any page";

// The permission to read metrics and the server's status.
inline constexpr std::string_view kMonitor = "monitor";

}  // namespace sluice::rest
