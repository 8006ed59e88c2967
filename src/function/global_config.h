// Settings for all functions of a server (/api/v1/config). Those that mean nothing here are
// checked, kept and shown; docs/reference/functions.md lists them.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "json/value.h"

namespace sluice::function {

struct GlobalConfig {
  bool allow_recursion = false;  // allow_interbucket_recursion
  bool debugger = false;         // enable_debugger
  bool curl = true;              // enable_curl: whether curl() works
  bool curl_bindings = true;     // not disable_curl_binding: functions with some can't be deployed
  uint32_t function_bytes = 128 << 10;
  json::Value given = json::Value::EmptyObject();  // what was stored

  // With the defaults of what was not given.
  json::Value Print() const;
};

// How much of function_size code takes: as Couchbase counts it, deflated.
size_t CodeBytes(std::string_view code);

// `changes` over what `before` has; a member that is null goes back to its default. An unknown one
// is an error.
Result<GlobalConfig> MergeConfig(const GlobalConfig& before, const json::Value& changes);

}  // namespace sluice::function
