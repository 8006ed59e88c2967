// YAML as a value.
#pragma once

#include "json/value.h"
#include "yaml/yaml.h"

namespace sluice::flow {

// What looks like a number or a truth value of JSON is one, unless it is in quotes; everything else
// is a text.
json::Value ValueOf(const yaml::Node& node);

}  // namespace sluice::flow
