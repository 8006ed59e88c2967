// Places in a trial's file, as messages name them: expect.documents["shop.web.carts"].c1[0].
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "json/value.h"

namespace sluice::function::trial {

std::string Below(const std::string& where, std::string_view name);
std::string Below(const std::string& where, size_t index);

// The value as JSON, cut when it is long.
std::string Short(const json::Value& value);

}  // namespace sluice::function::trial
