// Arguments of methods.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "lua/host.h"

namespace sluice::procedure {

inline Status BadArgument(std::string_view method, std::string_view expected) {
  return Error(Code::kInvalidArgument, "procedure.argument", "{}: expected {}", method, expected);
}

// A whole number, which Lua may have as a double.
inline std::optional<int64_t> WholeNumber(const json::Value& value) {
  constexpr double kExact = 9007199254740992.0;
  if (value.is_int()) return value.AsInt();
  if (!value.is_double()) return std::nullopt;
  const double number = value.AsDouble();
  if (!(number >= -kExact && number <= kExact) || number != std::floor(number)) return std::nullopt;
  return static_cast<int64_t>(number);
}

inline Result<int64_t> IntegerArgument(lua::Call& call, size_t index, std::string_view method) {
  ASSIGN_OR_RETURN(const json::Value value, call.Get(index));
  if (value.is_int()) return value.AsInt();
  if (value.is_double() && value.AsDouble() >= -9e15 && value.AsDouble() <= 9e15) {
    return static_cast<int64_t>(value.AsDouble());
  }
  return Unexpected(BadArgument(method, "a number"));
}

inline Result<std::string> StringArgument(lua::Call& call, size_t index, std::string_view method) {
  ASSIGN_OR_RETURN(const json::Value value, call.Get(index));
  if (!value.is_string()) return Unexpected(BadArgument(method, "a string"));
  return std::string(value.AsString());
}

}  // namespace sluice::procedure
