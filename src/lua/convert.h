// The types that Comdb2's Lua knows, and conversion between them: `declare`, :=, db:cast and typed
// columns of emitted rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "json/value.h"
#include "lua/zone.h"

namespace sluice::lua {

using json::Value;

enum class DataType : uint8_t {
  kInt,
  kReal,
  kCstring,
  kBlob,
  kDatetime,
  kIntervalYm,
  kIntervalDs,
  kDecimal,
};

// "int", "real", ...
std::string_view NameOf(DataType type);
// By these names, and by those of columns: short, longlong, double, vutf8, byte, datetimeus, ...
std::optional<DataType> DataTypeNamed(std::string_view name);
// Nothing for null, booleans, arrays and objects.
std::optional<DataType> DataTypeOf(const Value& value);

// Null stays null. Error lua.conversion.
Result<Value> Convert(const Value& value, DataType type, const Zone& zone);

// How tostring prints a value that is no array and no object: bytes as hex digits, datetimes in
// their zone, intervals as Comdb2 prints them (1-3, 4 01:02:03.000).
std::string TextOf(const Value& value, const Zone& zone, int datetime_digits);

// A number as a decimal; a double by its shortest text. Nothing for NaN and infinities.
std::optional<json::Decimal> DecimalOf(const Value& number);

}  // namespace sluice::lua
