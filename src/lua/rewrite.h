// Edits that turn Comdb2's Lua into plain Lua. Inside this module only.
#pragma once

#include <string>
#include <vector>

#include "lua/lexer.h"

namespace sluice::lua {

struct Edit {
  size_t offset = 0;
  size_t length = 0;  // of what it replaces
  std::string text;
};

// Numbers as Comdb2 has them, where each number of Lua is a double:
//
//   5, 0xff               5.0, 0xffp0        not past 2^53, where a double is not exact
//   for i = a, b do       for i = a, b, 1.0 do
//   a .. b .. c           __concat(a, b, c)  which writes 5.0 as 5
//   #t                    __length(t)
//
// Integers of Lua are then those that came from the database or from a conversion: `int`.
void UseDoubles(const std::vector<Token>& tokens, std::vector<Edit>* edits);

}  // namespace sluice::lua
