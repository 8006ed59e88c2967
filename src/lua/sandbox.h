// Makes the global environment of a program. Inside this module only.
#pragma once

#include <lua.hpp>

#include "lua/dialect.h"

namespace sluice::lua {

// Opens the allowed libraries and leaves the environment of programs on the stack: a table that
// reads through to the libraries and refuses new names.
void PushEnvironment(lua_State* lua, Numbers numbers);
// The table of libraries under the environment, where a host adds its globals.
void PushLibraries(lua_State* lua);

// Parts of it; each expects the table of globals on the top of the stack.
void AddProtectedCalls(lua_State* lua);   // pcall, xpcall, coroutine.resume, wrap, close
void AddStringFunctions(lua_State* lua);  // string.find, match, gmatch, gsub, rep
void AddTableFunctions(lua_State* lua);   // table.insert, remove, sort, concat, move, unpack
void AddPlainText(lua_State* lua);        // tostring and string.format, without addresses
void AddDoubles(lua_State* lua);          // last: puts itself around the others

// A whole double as digits, as Lua 5.1 does.
void PushNumberText(lua_State* lua, int index);

// tostring of the value at `index`, as programs see it: may run its __tostring.
void PushPlainText(lua_State* lua, int index);
// tostring of the value at `index`, without running code of the program: an error's value may be
// hostile.
void PushErrorText(lua_State* lua, int index);

}  // namespace sluice::lua
