// Host objects on the stack of Lua. Inside this module only.
#pragma once

#include <memory>
#include <string>

#include <lua.hpp>

#include "lua/host.h"

namespace sluice::lua {

void PushObject(lua_State* lua, const std::shared_ptr<HostObject>& object);
// Null when it is none.
std::shared_ptr<HostObject> ToObject(lua_State* lua, int index);

// Notes the table of a program's outermost functions, which is on the top of the stack.
void SetOutermost(lua_State* lua);
// By which name the function at `index` is in it; empty when it is not.
std::string OutermostName(lua_State* lua, int index);

}  // namespace sluice::lua
