// Names in statements.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

// `name`, as statements of SQL++ have names of any characters: a back quote in it is doubled.
inline std::string BackQuoted(std::string_view name) {
  std::string quoted = "`";
  for (const char c : name) quoted.append(c == '`' ? 2 : 1, c);
  return quoted + "`";
}

}  // namespace sluice
