// tostring, print and string.format without addresses: a value without a text of its own is "table:
// 1", with a number that stays the same for the life of the value. An address would reveal the
// layout of the server's memory.
#include <cstring>

#include "lua/sandbox.h"

namespace sluice::lua {
namespace {

const char kNumbersKey = 0;  // its address is the key in the registry

// Numbers by thing, without keeping it alive; the last number under `false`.
void PushNumbers(lua_State* lua) {
  if (lua_rawgetp(lua, LUA_REGISTRYINDEX, &kNumbersKey) == LUA_TTABLE) return;
  lua_pop(lua, 1);
  lua_newtable(lua);
  lua_newtable(lua);
  lua_pushliteral(lua, "k");
  lua_setfield(lua, -2, "__mode");
  lua_setmetatable(lua, -2);
  lua_pushvalue(lua, -1);
  lua_rawsetp(lua, LUA_REGISTRYINDEX, &kNumbersKey);
}

lua_Integer NumberOf(lua_State* lua, int index) {
  PushNumbers(lua);
  lua_pushvalue(lua, index);
  if (lua_rawget(lua, -2) == LUA_TNUMBER) {
    const lua_Integer number = lua_tointeger(lua, -1);
    lua_pop(lua, 2);
    return number;
  }
  lua_pop(lua, 1);
  lua_pushboolean(lua, 0);
  lua_rawget(lua, -2);
  const lua_Integer number = lua_tointeger(lua, -1) + 1;
  lua_pop(lua, 1);
  lua_pushboolean(lua, 0);
  lua_pushinteger(lua, number);
  lua_rawset(lua, -3);
  lua_pushvalue(lua, index);
  lua_pushinteger(lua, number);
  lua_rawset(lua, -3);
  lua_pop(lua, 1);
  return number;
}

bool HasOwnText(lua_State* lua, int index) {
  const int type = lua_type(lua, index);
  if (type == LUA_TNIL || type == LUA_TBOOLEAN || type == LUA_TNUMBER || type == LUA_TSTRING) {
    return true;
  }
  if (luaL_getmetafield(lua, index, "__tostring") == LUA_TNIL) return false;
  lua_pop(lua, 1);
  return true;
}

int ToString(lua_State* lua) {
  luaL_checkany(lua, 1);
  PushPlainText(lua, 1);
  return 1;
}

// Arguments of %s are converted to text here; the library's own function does the rest.
int Format(lua_State* lua) {
  const auto original = lua_tocfunction(lua, lua_upvalueindex(1));
  const char* const format = luaL_checkstring(lua, 1);
  const int last = lua_gettop(lua);
  int argument = 1;
  for (const char* at = std::strchr(format, '%'); at != nullptr; at = std::strchr(at, '%')) {
    at += 1 + std::strspn(at + 1, "-+ #0123456789.");
    if (*at == '\0') break;
    if (*at++ == '%') continue;
    ++argument;
    if (at[-1] == 'p') return luaL_error(lua, "string.format: there is no %%p here");
    if (at[-1] != 's' || argument > last || HasOwnText(lua, argument)) continue;
    PushPlainText(lua, argument);
    lua_replace(lua, argument);
  }
  return original(lua);
}

}  // namespace

void PushPlainText(lua_State* lua, int index) {
  index = lua_absindex(lua, index);
  if (HasOwnText(lua, index)) {
    luaL_tolstring(lua, index, nullptr);
    return;
  }
  const lua_Integer number = NumberOf(lua, index);
  const int type = luaL_getmetafield(lua, index, "__name");
  const char* const name = type == LUA_TSTRING ? lua_tostring(lua, -1) : luaL_typename(lua, index);
  lua_pushfstring(lua, "%s: %I", name, static_cast<LUAI_UACINT>(number));
  if (type != LUA_TNIL) lua_remove(lua, -2);
}

void AddPlainText(lua_State* lua) {
  lua_pushcfunction(lua, ToString);
  lua_setfield(lua, -2, "tostring");
  lua_getfield(lua, -1, LUA_STRLIBNAME);
  lua_getfield(lua, -1, "format");
  lua_pushcclosure(lua, Format, 1);
  lua_setfield(lua, -2, "format");
  lua_pop(lua, 1);
}

}  // namespace sluice::lua
