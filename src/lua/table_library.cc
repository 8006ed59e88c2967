// The functions of `table` walk a table in C, where no hook comes. They get only plain tables, so
// that the length is correct, and the steps are charged first.
#include <algorithm>

#include "lua/sandbox.h"
#include "lua/state.h"

namespace sluice::lua {
namespace {

constexpr lua_Integer kItemsPerStep = 4;
constexpr lua_Integer kItemsPerCharge = 1024;

// A length that a metatable makes up could be anything.
void CheckPlain(lua_State* lua, int index) {
  luaL_checktype(lua, index, LUA_TTABLE);
  for (const char* const name : {"__len", "__index", "__newindex"}) {
    if (luaL_getmetafield(lua, index, name) != LUA_TNIL) {
      luaL_error(lua, "this function of 'table' takes tables without %s", name);
    }
  }
}

void ChargeItems(lua_State* lua, lua_Integer items) {
  State::Of(lua).Charge(lua,
                        static_cast<uint64_t>(std::max<lua_Integer>(items, 0)) / kItemsPerStep);
}

// The function that stands behind is upvalue 1.
int CallOriginal(lua_State* lua) {
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_insert(lua, 1);
  lua_call(lua, lua_gettop(lua) - 1, LUA_MULTRET);
  return lua_gettop(lua);
}

int ConcatenateElements(lua_State* lua) {
  CheckPlain(lua, 1);
  lua_Integer count = 0;
  const auto length = static_cast<lua_Integer>(lua_rawlen(lua, 1));
  const lua_Integer first = luaL_optinteger(lua, 3, 1);
  if (__builtin_sub_overflow(luaL_optinteger(lua, 4, length), first, &count)) count = INT64_MAX;
  ChargeItems(lua, count);
  return CallOriginal(lua);
}

int Remove(lua_State* lua) {
  CheckPlain(lua, 1);
  const auto length = static_cast<lua_Integer>(lua_rawlen(lua, 1));
  if (lua_gettop(lua) > 1) ChargeItems(lua, length - luaL_checkinteger(lua, 2));
  return CallOriginal(lua);
}

// As in Lua 5.1, the value may go to a position past the end; positions between stay empty.
int Insert(lua_State* lua) {
  CheckPlain(lua, 1);
  const auto length = static_cast<lua_Integer>(lua_rawlen(lua, 1));
  if (lua_gettop(lua) != 3) return CallOriginal(lua);
  const lua_Integer position = luaL_checkinteger(lua, 2);
  if (position > length) {
    lua_rawseti(lua, 1, position);
    return 0;
  }
  ChargeItems(lua, length - position);
  return CallOriginal(lua);
}

// table.move(from, first, last, to_first [, to]). A range may be as wide as integers are.
int Move(lua_State* lua) {
  CheckPlain(lua, 1);
  const lua_Integer first = luaL_checkinteger(lua, 2);
  const lua_Integer last = luaL_checkinteger(lua, 3);
  const lua_Integer to = luaL_checkinteger(lua, 4);
  const int target = lua_isnoneornil(lua, 5) ? 1 : 5;
  CheckPlain(lua, target);
  lua_settop(lua, 5);
  lua_Integer distance = 0;
  lua_Integer end = 0;
  if (first <= last && (__builtin_sub_overflow(last, first, &distance) ||
                        __builtin_add_overflow(to, distance, &end))) {
    return luaL_error(lua, "too many elements to move");
  }
  // Copies downwards if the ranges overlap, so that no element is overwritten before it is read.
  const bool down = target == 1 && to > first && to <= last;
  for (lua_Integer i = 0; first <= last && i <= distance; ++i) {
    if (i % kItemsPerCharge == 0) ChargeItems(lua, kItemsPerCharge);
    const lua_Integer at = down ? distance - i : i;
    lua_rawgeti(lua, 1, first + at);
    lua_rawseti(lua, target, to + at);
  }
  lua_pushvalue(lua, target);
  return 1;
}

// Compares by upvalue 1, or by < when that is nil.
int CountedLess(lua_State* lua) {
  State::Of(lua).Charge(lua, 1);
  if (lua_isnil(lua, lua_upvalueindex(1))) {
    lua_pushboolean(lua, lua_compare(lua, 1, 2, LUA_OPLT));
    return 1;
  }
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_insert(lua, 1);
  lua_call(lua, 2, 1);
  return 1;
}

int Sort(lua_State* lua) {
  CheckPlain(lua, 1);
  if (!lua_isnoneornil(lua, 2)) luaL_checktype(lua, 2, LUA_TFUNCTION);
  lua_settop(lua, 2);
  lua_pushcclosure(lua, CountedLess, 1);
  return CallOriginal(lua);
}

// table.getn and table.maxn of Lua 5.1.
int GetLength(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  lua_pushinteger(lua, static_cast<lua_Integer>(lua_rawlen(lua, 1)));
  return 1;
}

int GetHighest(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  lua_settop(lua, 1);
  lua_Number highest = 0;
  lua_Integer items = 0;
  lua_pushnil(lua);
  while (lua_next(lua, 1) != 0) {
    lua_pop(lua, 1);
    if (lua_type(lua, -1) == LUA_TNUMBER) highest = std::max(highest, lua_tonumber(lua, -1));
    ++items;
  }
  ChargeItems(lua, items);
  lua_pushnumber(lua, highest);
  return 1;
}

void Wrap(lua_State* lua, const char* name, lua_CFunction function) {
  lua_getfield(lua, -1, name);
  lua_pushcclosure(lua, function, 1);
  lua_setfield(lua, -2, name);
}

}  // namespace

void AddTableFunctions(lua_State* lua) {
  lua_getfield(lua, -1, "table");
  Wrap(lua, "insert", Insert);
  Wrap(lua, "remove", Remove);
  Wrap(lua, "concat", ConcatenateElements);
  lua_pushcfunction(lua, Move);
  lua_setfield(lua, -2, "move");
  Wrap(lua, "sort", Sort);
  lua_pushcfunction(lua, GetLength);
  lua_setfield(lua, -2, "getn");
  lua_pushcfunction(lua, GetHighest);
  lua_setfield(lua, -2, "maxn");
  lua_getfield(lua, -1, "unpack");
  lua_setfield(lua, -3, "unpack");
  lua_pop(lua, 1);
}

}  // namespace sluice::lua
