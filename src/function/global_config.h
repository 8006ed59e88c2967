// The settings for all functions of a server (/api/v1/config). Some of Couchbase's have no meaning
// here. They are checked, kept and shown; docs/reference/functions.md lists them.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "json/value.h"

namespace sluice::function {

struct GlobalConfig {
  bool allow_recursion = false;  // allow_interbucket_recursion
  bool debugger = false;         // enable_debugger
  bool curl = true;              // enable_curl: whether curl() works
  bool curl_bindings = true;     // not disable_curl_binding: whether URL bindings are allowed
  uint32_t function_bytes = 128 << 10;
  json::Value given = json::Value::EmptyObject();  // the stored members

  // With defaults for the members that were not given.
  json::Value Print() const;
};

// The size of code that function_size limits: the deflated one, as in Couchbase.
size_t CodeBytes(std::string_view code);

// Applies `changes` to `before`. A member that is null goes back to its default; an unknown one is
// an error.
Result<GlobalConfig> MergeConfig(const GlobalConfig& before, const json::Value& changes);

}  // namespace sluice::function
