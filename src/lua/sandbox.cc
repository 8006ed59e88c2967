#include "lua/sandbox.h"

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include "lua/state.h"
#include "lua/values.h"

namespace sluice::lua {
namespace {

const char kLibrariesKey = 0;  // its address is the key in the registry
constexpr size_t kMaxPrintedBytes = 64 << 10;

// The functions of the base library that procedures get; others are replaced or left out.
constexpr const char* kBaseFunctions[] = {
    "_VERSION", "assert", "error",  "getmetatable", "ipairs", "next",     "pairs",
    "rawequal", "rawget", "rawlen", "rawset",       "select", "tonumber", "tostring"};
constexpr const char* kOsFunctions[] = {"clock", "date", "difftime", "time"};
constexpr luaL_Reg kLibraries[] = {{LUA_STRLIBNAME, luaopen_string},
                                   {LUA_TABLIBNAME, luaopen_table},
                                   {LUA_MATHLIBNAME, luaopen_math},
                                   {LUA_COLIBNAME, luaopen_coroutine},
                                   {LUA_UTF8LIBNAME, luaopen_utf8}};

int NoGlobal(lua_State* lua) {
  const char* const name = lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : "?";
  return luaL_error(lua, "Global variables not allowed (%s).", name);
}

int Print(lua_State* lua) {
  std::string line;
  const int count = lua_gettop(lua);
  for (int i = 1; i <= count; ++i) {
    size_t length = 0;
    PushPlainText(lua, i);
    const char* const text = lua_tolstring(lua, -1, &length);
    if (i > 1) line += '\t';
    line.append(text, length);
    lua_pop(lua, 1);
    if (line.size() > kMaxPrintedBytes) {
      line.resize(kMaxPrintedBytes);
      break;
    }
  }
  const auto& print = State::Of(lua).print;
  if (print) print(line);
  return 0;
}

int TypeOf(lua_State* lua) {
  luaL_checkany(lua, 1);
  if (const Typed* typed = TestTyped(lua, 1)) {
    const auto type = typed->value.is_null() ? typed->null_type : DataTypeOf(typed->value);
    lua_pushstring(lua, type ? std::string(NameOf(*type)).c_str() : "NULL");
  } else if (lua_type(lua, 1) == LUA_TUSERDATA && luaL_getmetafield(lua, 1, "__name") != LUA_TNIL) {
    return 1;
  } else {
    lua_pushstring(lua, luaL_typename(lua, 1));
  }
  return 1;
}

// A finalizer would run where no hook comes, and could not be ended.
int SetMetatable(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  const int type = lua_type(lua, 2);
  luaL_argexpected(lua, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table");
  if (luaL_getmetafield(lua, 1, "__metatable") != LUA_TNIL) {
    return luaL_error(lua, "cannot change a protected metatable");
  }
  lua_settop(lua, 2);
  if (type == LUA_TTABLE) {
    lua_pushliteral(lua, "__gc");
    if (lua_rawget(lua, 2) != LUA_TNIL) return luaL_error(lua, "__gc is not allowed");
    lua_pop(lua, 1);
  }
  lua_setmetatable(lua, 1);
  return 1;
}

DataType CheckType(lua_State* lua, int index) {
  const char* const name = luaL_checkstring(lua, index);
  const auto type = DataTypeNamed(name);
  if (!type) luaL_error(lua, "there is no type '%s'", name);
  return *type;
}

// __declare(2, 'int'): this many NULLs of that type.
int Declare(lua_State* lua) {
  const auto count = static_cast<int>(luaL_checkinteger(lua, 1));
  const DataType type = CheckType(lua, 2);
  luaL_checkstack(lua, count, "too many variables");
  for (int i = 0; i < count; ++i) PushNull(lua, type);
  return count;
}

// The type that a variable has, from its value.
std::optional<DataType> TypeOfVariable(lua_State* lua, int index) {
  if (const Typed* typed = TestTyped(lua, index)) {
    return typed->value.is_null() ? typed->null_type : DataTypeOf(typed->value);
  }
  if (lua_type(lua, index) == LUA_TSTRING) return DataType::kCstring;
  if (lua_isinteger(lua, index)) return DataType::kInt;
  return lua_type(lua, index) == LUA_TNUMBER ? std::optional(DataType::kReal) : std::nullopt;
}

// The value at `index`, which is not nil, in a type.
int PushConverted(lua_State* lua, int index, DataType type) {
  const Result<Value> value = ToValue(lua, index);
  if (!value) RaiseText(lua, value.error().message());
  const Result<Value> converted = Convert(*value, type, State::Of(lua).zone);
  if (!converted) RaiseText(lua, converted.error().message());
  if (converted->is_null()) {
    PushNull(lua, type);
  } else {
    PushValue(lua, *converted);
  }
  return 1;
}

// __convert(x, value): the value in the type of x.
int ConvertTo(lua_State* lua) {
  lua_settop(lua, 2);
  const auto type = TypeOfVariable(lua, 1);
  if (!type || lua_isnil(lua, 2)) return 1;
  return PushConverted(lua, 2, *type);
}

// __cast(x, 'int'): converts a parameter to its type; nil stays nil.
int Cast(lua_State* lua) {
  lua_settop(lua, 2);
  const DataType type = CheckType(lua, 2);
  if (!lua_isnil(lua, 1)) return PushConverted(lua, 1, type);
  lua_pushnil(lua);
  return 1;
}

// __blob('f00d'), whose digits were looked at.
int Blob(lua_State* lua) {
  size_t length = 0;
  const char* const digits = luaL_checklstring(lua, 1, &length);
  std::string bytes;
  for (size_t i = 0; i + 1 < length; i += 2) {
    int byte = 0;
    std::from_chars(digits + i, digits + i + 2, byte, 16);
    bytes += static_cast<char>(byte);
  }
  PushTyped(lua, Value::Bytes(bytes));
  return 1;
}

// __arguments(...): the `arg` of Lua 5.1.
int Arguments(lua_State* lua) {
  const int count = lua_gettop(lua);
  lua_createtable(lua, count, 1);
  lua_insert(lua, 1);
  for (int i = count; i >= 1; --i) lua_rawseti(lua, 1, i);
  lua_pushnumber(lua, count);
  lua_setfield(lua, 1, "n");
  return 1;
}

// Finalizers are ours alone, so that a collection runs no code of the program.
int CollectGarbage(lua_State* lua) {
  constexpr int kBytesPerInstruction = 64;
  const std::string_view what = luaL_optstring(lua, 1, "collect");
  const double used = lua_gc(lua, LUA_GCCOUNT) * 1024.0 + lua_gc(lua, LUA_GCCOUNTB);
  if (what == "count") {
    lua_pushnumber(lua, used / 1024);
    return 1;
  }
  if (what != "collect" && what != "step") {
    RaiseText(lua, "collectgarbage: expected 'collect', 'step' or 'count'");
  }
  State::Of(lua).Charge(lua, static_cast<uint64_t>(used) / kBytesPerInstruction);
  lua_gc(lua, LUA_GCCOLLECT);
  lua_pushnumber(lua, 0);
  return 1;
}

// debug.traceback([text]); nothing else of that library can be let in.
int Traceback(lua_State* lua) {
  if (!lua_isnoneornil(lua, 1) && lua_isstring(lua, 1) == 0) {
    lua_settop(lua, 1);
    return 1;
  }
  luaL_traceback(lua, lua, lua_tostring(lua, 1), 1);
  return 1;
}

int Power(lua_State* lua) {
  lua_pushnumber(lua, std::pow(luaL_checknumber(lua, 1), luaL_checknumber(lua, 2)));
  return 1;
}

int Log10(lua_State* lua) {
  lua_pushnumber(lua, std::log10(luaL_checknumber(lua, 1)));
  return 1;
}

// Copies names from the table at the top into the one below it.
template <size_t n>
void Pick(lua_State* lua, const char* const (&names)[n]) {
  for (const char* const name : names) {
    lua_getfield(lua, -1, name);
    lua_setfield(lua, -3, name);
  }
}

void AddLibraries(lua_State* lua) {
  luaL_requiref(lua, LUA_GNAME, luaopen_base, 0);
  Pick(lua, kBaseFunctions);
  lua_pop(lua, 1);
  for (const luaL_Reg& library : kLibraries) {
    luaL_requiref(lua, library.name, library.func, 0);
    lua_setfield(lua, -2, library.name);
  }
  luaL_requiref(lua, LUA_OSLIBNAME, luaopen_os, 0);
  lua_createtable(lua, 0, 4);
  lua_insert(lua, -2);
  Pick(lua, kOsFunctions);
  lua_pop(lua, 1);
  lua_setfield(lua, -2, LUA_OSLIBNAME);
}

void AddOwnFunctions(lua_State* lua) {
  constexpr luaL_Reg kFunctions[] = {
      {"print", Print},       {"type", TypeOf},           {"setmetatable", SetMetatable},
      {"__declare", Declare}, {"__convert", ConvertTo},   {"__cast", Cast},
      {"__blob", Blob},       {"__arguments", Arguments}, {"collectgarbage", CollectGarbage},
      {nullptr, nullptr}};
  luaL_setfuncs(lua, kFunctions, 0);
  lua_createtable(lua, 0, 1);
  lua_pushcfunction(lua, Traceback);
  lua_setfield(lua, -2, "traceback");
  lua_setfield(lua, -2, LUA_DBLIBNAME);
  constexpr luaL_Reg kMath[] = {{"pow", Power}, {"log10", Log10}, {nullptr, nullptr}};
  lua_getfield(lua, -1, LUA_MATHLIBNAME);
  luaL_setfuncs(lua, kMath, 0);
  lua_getfield(lua, -1, "fmod");
  lua_setfield(lua, -2, "mod");
  lua_pop(lua, 1);
}

// Hides the metatable that all strings share.
void HideStringMetatable(lua_State* lua) {
  lua_pushliteral(lua, "");
  lua_getmetatable(lua, -1);
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_pop(lua, 2);
}

// Gives the table at the top a metatable with these, and hides it.
void Guard(lua_State* lua, bool refuses_reads) {
  lua_createtable(lua, 0, 3);
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_pushcfunction(lua, NoGlobal);
  lua_setfield(lua, -2, "__newindex");
  if (refuses_reads) {
    lua_pushcfunction(lua, NoGlobal);
  } else {
    PushLibraries(lua);
  }
  lua_setfield(lua, -2, "__index");
  lua_setmetatable(lua, -2);
}

}  // namespace

void PushLibraries(lua_State* lua) { lua_rawgetp(lua, LUA_REGISTRYINDEX, &kLibrariesKey); }

void PushEnvironment(lua_State* lua, Numbers numbers) {
  OpenTyped(lua);
  lua_newtable(lua);
  AddLibraries(lua);
  AddOwnFunctions(lua);
  AddProtectedCalls(lua);
  AddStringFunctions(lua);
  AddTableFunctions(lua);
  AddPlainText(lua);
  if (numbers == Numbers::kDoubles) AddDoubles(lua);
  HideStringMetatable(lua);
  Guard(lua, true);
  lua_rawsetp(lua, LUA_REGISTRYINDEX, &kLibrariesKey);
  lua_newtable(lua);
  Guard(lua, false);
}

void PushErrorText(lua_State* lua, int index) {
  index = lua_absindex(lua, index);
  if (const Typed* typed = TestTyped(lua, index)) {
    const std::string text = typed->Text();
    lua_pushlstring(lua, text.data(), text.size());
    return;
  }
  if (lua_type(lua, index) == LUA_TTABLE) {
    lua_pushliteral(lua, "message");
    lua_rawget(lua, index);
    if (lua_type(lua, -1) == LUA_TSTRING) return;
    lua_pop(lua, 1);
  }
  switch (lua_type(lua, index)) {
    case LUA_TNUMBER:
      return PushNumberText(lua, index);
    case LUA_TSTRING:
      lua_pushvalue(lua, index);
      return;
    case LUA_TBOOLEAN:
      lua_pushstring(lua, lua_toboolean(lua, index) != 0 ? "true" : "false");
      return;
    default:
      lua_pushfstring(lua, "an error that is a %s", luaL_typename(lua, index));
  }
}

}  // namespace sluice::lua
