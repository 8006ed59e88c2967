// Fields that are asked for in any case of letters: `name`i of a path.
#pragma once

#include <string_view>

#include <strings.h>

#include "json/value.h"

namespace sluice::query {

// A field that has the name exactly comes first; missing if there is none.
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
