// Host objects on the stack of Lua. Inside this module only.
#pragma once

#include <memory>

#include <lua.hpp>

#include "lua/host.h"

namespace sluice::lua {

void PushObject(lua_State* lua, const std::shared_ptr<HostObject>& object);
// Null when it is none.
std::shared_ptr<HostObject> ToObject(lua_State* lua, int index);

}  // namespace sluice::lua
