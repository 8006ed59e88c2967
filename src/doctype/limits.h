// A type's limits on its documents.
#pragma once

#include <string_view>

#include "base/status.h"
#include "doctype/type.h"

namespace sluice::doctype {

// `document` is valid JSON, as it will be stored. type.too_large, type.too_deep,
// type.array_too_long.
Status CheckLimits(const Type& type, std::string_view document);

}  // namespace sluice::doctype
