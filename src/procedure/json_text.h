// db:table_to_json and db:json_to_table, with the options that Comdb2 has for them.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "json/value.h"
#include "lua/zone.h"

namespace sluice::procedure {

struct JsonOptions {
  // Each value is {"type": "int", "value": 5}; a NULL of a type has no value.
  bool type_annotate = false;
  // "nan", "inf" and "-inf" instead of null.
  bool quote_special = false;
  // For strings that are not UTF-8: fail, cut the string there, or print all bytes in hexadecimal
  // digits. kDefault prints them like blobs.
  enum class InvalidUtf8 : uint8_t { kDefault, kFail, kTruncate, kHex };
  InvalidUtf8 invalid_utf8 = InvalidUtf8::kDefault;
};
// Reads {type_annotate = true, ...}; a missing value gives the defaults. Error procedure.argument.
Result<JsonOptions> JsonOptionsOf(const json::Value& given);

struct JsonText {
  bool ok = true;
  std::string text;
  int64_t code = 0;  // 2: a string was not UTF-8; 4: ... and was cut; 8: ... and is hexadecimal
};
// `value` comes from lua::Call::GetAnnotated.
JsonText TextOfAnnotated(const json::Value& value, const JsonOptions& options);
// Error lua.conversion.
Result<json::Value> FromAnnotated(const json::Value& value, const lua::Zone& zone);

}  // namespace sluice::procedure
