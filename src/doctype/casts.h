// Conversions of single values, for the step `cast`.
#pragma once

#include <string_view>

#include "base/status.h"
#include "json/value.h"

namespace sluice::doctype {

// Whether `how` names a cast; type.invalid.
Status CheckCast(const json::Value& how);

// A value that is already as wanted stays as it is. migration.mismatch if it can't be converted
// without loss.
Result<json::Value> Cast(const json::Value& value, std::string_view how);

}  // namespace sluice::doctype
