// YAML as a value.
#pragma once

#include "json/value.h"
#include "yaml/yaml.h"

namespace sluice::flow {

// A scalar that looks like a number or boolean of JSON becomes one, unless it is in quotes; every
// other scalar is a text.
json::Value ValueOf(const yaml::Node& node);

}  // namespace sluice::flow
