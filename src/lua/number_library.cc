// Replacements of Lua's own functions for programs whose numbers are doubles (rewrite.h). Numbers
// that they make are doubles, whole numbers are written without ".0", and an integer, which comes
// from the database, has the type `int`.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "lua/sandbox.h"
#include "lua/state.h"
#include "lua/values.h"

namespace sluice::lua {
namespace {

constexpr lua_Integer kExact = lua_Integer{1} << 53;
constexpr double kBeyond = 9223372036854775808.0;

constexpr const char* kOfBase[] = {"select", "tonumber", "rawlen"};
constexpr const char* kOfString[] = {"byte",   "find", "len",     "lower", "match",
                                     "gmatch", "rep",  "reverse", "sub",   "upper"};
constexpr const char* kGsub[] = {"gsub"};
constexpr const char* kOfTable[] = {"getn", "maxn"};
constexpr const char* kConcat[] = {"concat"};
constexpr const char* kPassing[] = {"abs", "fmod", "max", "min", "mod"};
constexpr const char* kOfMath[] = {"ceil", "floor", "random"};
constexpr const char* kOfOs[] = {"time"};
constexpr const char* kType[] = {"type"};

// Converts an integer that a function made.
void MakeDouble(lua_State* lua, int index) {
  if (lua_isinteger(lua, index) == 0) return;
  index = lua_absindex(lua, index);
  const lua_Integer value = lua_tointeger(lua, index);
  if (value > kExact || value < -kExact) return;
  lua_pushnumber(lua, static_cast<lua_Number>(value));
  lua_replace(lua, index);
}

// A whole double as digits; anything else as it is.
void MakeText(lua_State* lua, int index) {
  if (lua_type(lua, index) != LUA_TNUMBER || lua_isinteger(lua, index) != 0) return;
  index = lua_absindex(lua, index);
  PushNumberText(lua, index);
  lua_replace(lua, index);
}

// Runs the function behind, upvalue 1, and returns how many results it has. One without upvalues
// of its own runs in the place of this one, so that its errors name the line of the caller.
int CallBehind(lua_State* lua) {
  if (lua_getupvalue(lua, lua_upvalueindex(1), 1) == nullptr) {
    return lua_tocfunction(lua, lua_upvalueindex(1))(lua);
  }
  lua_pop(lua, 1);
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_insert(lua, 1);
  lua_call(lua, lua_gettop(lua) - 1, LUA_MULTRET);
  return lua_gettop(lua);
}

int CallForDoubles(lua_State* lua) {
  const int results = CallBehind(lua);
  const int top = lua_gettop(lua);
  for (int i = top - results + 1; i <= top; ++i) MakeDouble(lua, i);
  return results;
}

// The same; a number where a text is expected is written as tostring does.
int CallWithText(lua_State* lua) {
  MakeText(lua, 1);
  return CallForDoubles(lua);
}

int Substitute(lua_State* lua) {
  if (lua_gettop(lua) >= 3) MakeText(lua, 3);
  return CallWithText(lua);
}

// math.max(row.i, 5): an integer of the database that is passed through stays one.
int CallForNumber(lua_State* lua) {
  bool only_integers = true;
  for (int i = 1; i <= lua_gettop(lua); ++i) {
    only_integers = only_integers && lua_isinteger(lua, i) != 0;
  }
  return only_integers ? CallBehind(lua) : CallForDoubles(lua);
}

// table.concat takes doubles, too: the list is copied when it has some.
int ConcatenateItems(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  MakeText(lua, 2);
  const auto length = static_cast<lua_Integer>(lua_rawlen(lua, 1));
  State::Of(lua).Charge(lua, static_cast<uint64_t>(length) / 4);
  bool copied = false;
  for (lua_Integer i = 1; i <= length; ++i) {
    const bool is_double = lua_rawgeti(lua, 1, i) == LUA_TNUMBER && lua_isinteger(lua, -1) == 0;
    if (is_double && !copied) {
      copied = true;
      lua_createtable(lua, static_cast<int>(std::min<lua_Integer>(length, INT32_MAX)), 0);
      for (lua_Integer k = 1; k <= length; ++k) {
        lua_rawgeti(lua, 1, k);
        MakeText(lua, -1);
        lua_rawseti(lua, -2, k);
      }
      lua_replace(lua, 1);
    }
    lua_pop(lua, 1);
    if (copied) break;
  }
  return CallForDoubles(lua);
}

int Concatenate(lua_State* lua) {
  const int count = lua_gettop(lua);
  for (int i = 1; i <= count; ++i) {
    const Typed* const typed = TestTyped(lua, i);
    if (typed != nullptr && typed->value.is_null()) {
      RaiseText(lua, "attempt to concatenate a NULL value");
    }
    if (lua_isstring(lua, i) == 0 && luaL_getmetafield(lua, i, "__concat") == LUA_TNIL) {
      // One of its neighbours may know how.
      const int other = i == count ? i - 1 : i + 1;
      if (other < 1 || luaL_getmetafield(lua, other, "__concat") == LUA_TNIL) {
        RaiseText(lua, fmt::format("attempt to concatenate a {} value", luaL_typename(lua, i)));
      }
    }
    lua_settop(lua, count);
    MakeText(lua, i);
  }
  lua_concat(lua, count);
  return 1;
}

int Length(lua_State* lua) {
  const int type = lua_type(lua, 1);
  if (type != LUA_TSTRING && type != LUA_TTABLE && luaL_getmetafield(lua, 1, "__len") == LUA_TNIL) {
    RaiseText(lua, fmt::format("attempt to get length of a {} value", luaL_typename(lua, 1)));
  }
  lua_settop(lua, 1);
  lua_len(lua, 1);
  MakeDouble(lua, -1);
  return 1;
}

int TypeOf(lua_State* lua) {
  if (lua_isinteger(lua, 1) != 0) {
    lua_pushliteral(lua, "int");
    return 1;
  }
  return CallBehind(lua);
}

int NumberToText(lua_State* lua) {
  PushNumberText(lua, 1);
  return 1;
}

// Keys that are integers are given as doubles, and taken back.
int Next(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  lua_settop(lua, 2);
  int is_whole = 0;
  const lua_Integer key = lua_tointegerx(lua, 2, &is_whole);
  if (is_whole != 0 && lua_type(lua, 2) == LUA_TNUMBER) {
    lua_pushinteger(lua, key);
    lua_replace(lua, 2);
  }
  if (lua_next(lua, 1) == 0) {
    lua_pushnil(lua);
    return 1;
  }
  MakeDouble(lua, lua_gettop(lua) - 1);
  return 2;
}

int Pairs(lua_State* lua) {
  luaL_checkany(lua, 1);
  if (luaL_getmetafield(lua, 1, "__pairs") != LUA_TNIL) {
    lua_pushvalue(lua, 1);
    lua_call(lua, 1, 3);
    return 3;
  }
  luaL_checktype(lua, 1, LUA_TTABLE);
  lua_pushcfunction(lua, Next);
  lua_pushvalue(lua, 1);
  lua_pushnil(lua);
  return 3;
}

int NextItem(lua_State* lua) {
  const lua_Integer at = luaL_checkinteger(lua, 2) + 1;
  lua_pushnumber(lua, static_cast<lua_Number>(at));
  return lua_geti(lua, 1, at) == LUA_TNIL ? 1 : 2;
}

int Items(lua_State* lua) {
  luaL_checkany(lua, 1);
  lua_pushcfunction(lua, NextItem);
  lua_pushvalue(lua, 1);
  lua_pushnumber(lua, 0);
  return 3;
}

// Puts `wrapper` around functions of the table at the top.
template <size_t n>
void Wrap(lua_State* lua, const char* const (&names)[n], lua_CFunction wrapper) {
  for (const char* const name : names) {
    lua_getfield(lua, -1, name);
    lua_pushcclosure(lua, wrapper, 1);
    lua_setfield(lua, -2, name);
  }
}

template <size_t n>
void WrapOf(lua_State* lua, const char* library, const char* const (&names)[n],
            lua_CFunction wrapper) {
  lua_getfield(lua, -1, library);
  Wrap(lua, names, wrapper);
  lua_pop(lua, 1);
}

}  // namespace

void PushNumberText(lua_State* lua, int index) {
  const lua_Number value = lua_tonumber(lua, index);
  const bool whole = lua_isinteger(lua, index) == 0 && value == std::floor(value) &&
                     value < kBeyond && value >= -kBeyond;
  if (whole) {
    const std::string text = fmt::format("{:.0f}", value);
    lua_pushlstring(lua, text.data(), text.size());
    return;
  }
  lua_pushvalue(lua, index);
  lua_tolstring(lua, -1, nullptr);
}

void AddDoubles(lua_State* lua) {
  State::Of(lua).doubles = true;
  constexpr luaL_Reg kFunctions[] = {
      {"__concat", Concatenate}, {"__length", Length}, {"next", Next},
      {"pairs", Pairs},          {"ipairs", Items},    {nullptr, nullptr}};
  luaL_setfuncs(lua, kFunctions, 0);
  Wrap(lua, kOfBase, CallForDoubles);
  Wrap(lua, kType, TypeOf);
  WrapOf(lua, LUA_STRLIBNAME, kOfString, CallWithText);
  WrapOf(lua, LUA_STRLIBNAME, kGsub, Substitute);
  WrapOf(lua, LUA_TABLIBNAME, kOfTable, CallForDoubles);
  WrapOf(lua, LUA_TABLIBNAME, kConcat, ConcatenateItems);
  WrapOf(lua, LUA_MATHLIBNAME, kPassing, CallForNumber);
  WrapOf(lua, LUA_MATHLIBNAME, kOfMath, CallForDoubles);
  WrapOf(lua, LUA_OSLIBNAME, kOfOs, CallForDoubles);
  // For tostring, print and %s. All numbers share one metatable.
  lua_pushnumber(lua, 0);
  lua_createtable(lua, 0, 2);
  lua_pushcfunction(lua, NumberToText);
  lua_setfield(lua, -2, "__tostring");
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_setmetatable(lua, -2);
  lua_pop(lua, 1);
}

}  // namespace sluice::lua
