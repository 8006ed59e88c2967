// json::Value to and from the stack of Lua.
//
//   missing          nil
//   null             NULL, a typed value of its own: it is neither nil nor false
//   bool, string     themselves
//   int, double      integer and float
//   bytes, datetime, interval, decimal   typed values (typed.cc)
//   array, object    tables; back: a table with keys 1..n and n > 0 is an array, others are objects
//                    with their fields in the order of the names
//
// A string of Lua that is no UTF-8 becomes bytes.
#pragma once

#include <string_view>

#include <lua.hpp>

#include "base/status.h"
#include "json/value.h"
#include "lua/convert.h"
#include "lua/host.h"
#include "lua/zone.h"

namespace sluice::lua {

// A userdata.
struct Typed {
  Value value;                        // null, bytes, datetime, interval or decimal
  std::optional<DataType> null_type;  // of a null that was declared
  Zone zone;                          // of a datetime
  int digits = 3;
  uint64_t held_bytes = 0;

  std::string Text() const { return TextOf(value, zone, digits); }
};

// Once in a state, before anything else of this file.
void OpenTyped(lua_State* lua);

// All of these may raise errors of memory.
void PushValue(lua_State* lua, const Value& value);
void PushTyped(lua_State* lua, const Value& value);
// An object as a row of a result: a table whose columns can also be read by position, and which
// keeps their order.
void PushRow(lua_State* lua, const Value& row);
void PushNull(lua_State* lua, std::optional<DataType> type);
Typed* TestTyped(lua_State* lua, int index);

// Error lua.argument. Charges instructions for a large table.
Result<Value> ToValue(lua_State* lua, int index);
// The same with a type at each value: {"type": "int", "value": 5}. Datetimes and the like also have
// a "text"; a NULL has no value.
Result<Value> ToAnnotated(lua_State* lua, int index);
// Also objects, and tables that hold them.
Result<Passed> ToPassed(lua_State* lua, int index);
void PushPassed(lua_State* lua, const Passed& passed);

// Raises `message` with the place of the caller in Lua before it.
[[noreturn]] void RaiseText(lua_State* lua, std::string_view message);

}  // namespace sluice::lua
