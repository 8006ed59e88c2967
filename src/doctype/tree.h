// YAML and JSON as each other: a type may be declared in both, and is read by one reader.
#pragma once

#include "json/value.h"
#include "yaml/yaml.h"

namespace sluice::doctype {

// Strings become quoted scalars; line and column are 0, for "not known".
yaml::Node NodeOf(const json::Value& value);

// Scalars that are not quoted and look like null, a boolean or a JSON number are such.
json::Value ValueOf(const yaml::Node& node);

}  // namespace sluice::doctype
