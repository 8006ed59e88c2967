// Comdb2's additions to Lua, turned into plain Lua. Lines stay where they are.
//
//   declare x 'int'       local x = __declare(1, 'int')     NULL of a type
//   declare x, y t        local x, y = __declare(2, t)      of several, of a type that is computed
//   x := value            x = __convert(x, value)           converted to the type that x has
//   t.f := value          likewise
//   function f(x int) ..  function f(x) x = __cast(x, 'int') ..
//   x'f00d'               __blob('f00d')
//   function f(...) ..    function f(...) local arg = __arguments(...) ..   where `arg` is used
//
// and numbers as rewrite.h says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace sluice::lua {

// kDoubles: numbers are doubles, as in Comdb2; kExact: as in Lua 5.4.
enum class Numbers : uint8_t { kDoubles, kExact };

struct Dialect {
  std::string text;  // plain Lua
  std::vector<std::string>
      outermost;  // names of local variables and functions outside of functions
};

// Text that is not Lua comes back unchanged: the compiler reports the error. Error lua.syntax, with
// the line, for a := without a variable before it or a value after it, and for a parameter of an
// unknown type.
Result<Dialect> ToPlainLua(std::string_view source, Numbers numbers = Numbers::kDoubles);

}  // namespace sluice::lua
