// Fields whose names are not case-sensitive: `name`i of a path.
#pragma once

#include <string_view>

#include <strings.h>

#include "json/value.h"

namespace sluice::query {

// A field with exactly this name comes first; missing if no field matches.
inline const json::Value& FindIgnoringCase(const json::Value& object, std::string_view name) {
  const json::Value& exact = object[name];
  if (!exact.is_missing()) return exact;
  for (const json::Field& field : object.fields()) {
    const std::string_view known = field.name();
    if (known.size() == name.size() && strncasecmp(known.data(), name.data(), name.size()) == 0) {
      return field.value;
    }
  }
  return exact;
}

}  // namespace sluice::query
