// Comdb2's additions to Lua, turned into plain Lua. Lines stay where they are.
//
//   declare x 'int'     local x = __declare('int')       NULL of a type
//   x := value          x = __convert(x, value)          converted to the type that x has
//   t.f := value        likewise
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace sluice::lua {

struct Dialect {
  std::string text;            // plain Lua
  bool defines_entry = false;  // has `local function ENTRY` or `local ENTRY`
};

// Text that is no Lua at all comes back as it is: the compiler finds what is wrong. Error
// lua.syntax, with the line, for a := that has no variable before it or no value after it.
Result<Dialect> ToPlainLua(std::string_view source, std::string_view entry);

}  // namespace sluice::lua
