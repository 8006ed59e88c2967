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
  // Of strings that are no UTF-8: fail, leave out what follows, or print all bytes in hexadecimal
  // digits. kDefault prints them as blobs are.
  enum class InvalidUtf8 : uint8_t { kDefault, kFail, kTruncate, kHex };
  InvalidUtf8 invalid_utf8 = InvalidUtf8::kDefault;
};
// From {type_annotate = true, ...}; missing: none. Error procedure.argument.
Result<JsonOptions> JsonOptionsOf(const json::Value& given);

struct JsonText {
  bool ok = true;
  std::string text;
  int64_t code = 0;  // 2: a string was no UTF-8, 4: and was cut, 8: and is in hexadecimal digits
};
// Of what lua::Call::GetAnnotated gives.
JsonText TextOfAnnotated(const json::Value& value, const JsonOptions& options);
// Error lua.conversion.
Result<json::Value> FromAnnotated(const json::Value& value, const lua::Zone& zone);

}  // namespace sluice::procedure
