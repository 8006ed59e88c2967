// The settings about failed events. Couchbase has none of them.
#pragma once

#include <string_view>

#include "function/field_reader.h"
#include "function/settings.h"

namespace sluice::function {

inline constexpr std::string_view kFailureSettings[] = {
    "retry_count",  "retry_delay", "retry_backoff", "retry_max_delay",
    "retry_jitter", "retry_on",    "max_failures"};
bool IsFailureSetting(std::string_view name);

void ReadFailureSettings(FieldReader& reader, Settings* settings);
// Adds the settings that differ from their defaults.
void PrintFailureSettings(const Settings& settings, json::Value* value);

}  // namespace sluice::function
