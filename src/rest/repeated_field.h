// Names that come again, in forms, query strings and XML.
#pragma once

#include <string_view>
#include <utility>

#include "json/value.h"

namespace sluice::rest {

// One that comes again makes a list. `value` is no list itself.
inline void AddRepeated(std::string_view name, json::Value value, json::Value* object) {
  json::Value* const present = object->MutableField(name);
  if (present == nullptr) return object->Set(name, std::move(value));
  // The list is changed where it is: a copy for each value would make all of them quadratic.
  if (!present->is_array()) {
    json::Value first = std::move(*present);
    *present = json::Value::Array({std::move(first)});
  }
  present->Append(std::move(value));
}

}  // namespace sluice::rest
