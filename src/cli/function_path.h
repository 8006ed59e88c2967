// Paths of the functions' REST interface.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::cli {

// /_p/event/api/v1/RESOURCE[/NAME][/WHAT]. A name is NAME, or BUCKET/SCOPE/NAME of a function that
// belongs to a scope. `query` follows after "?".
using QueryPairs = std::vector<std::pair<std::string, std::string>>;
std::string FunctionPath(std::string_view resource, std::string_view name = "",
                         std::string_view what = "", QueryPairs query = {});
// /_p/event/RESOURCE?name=NAME of the interface's older part.
std::string NamedPath(std::string_view resource, std::string_view name, std::string_view size = "");

}  // namespace sluice::cli
