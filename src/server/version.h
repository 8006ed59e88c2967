// The version of this binary.
#pragma once

#include <string>
#include <string_view>

#include "json/value.h"

namespace sluice::server {

// "0.1.0"
std::string_view Version();

// {"version":...,"compiler":...,"build":...,"rocksdb":...}
json::Value VersionDetails();

}  // namespace sluice::server
