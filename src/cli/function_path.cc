#include "cli/function_path.h"

#include <utility>
#include <vector>

#include "cli/api.h"

namespace sluice::cli {
namespace {

struct Location {
  std::string bucket;
  std::string scope;
  std::string name;
};

Location LocationOf(std::string_view text) {
  const size_t first = text.find('/');
  const size_t second = first == text.npos ? text.npos : text.find('/', first + 1);
  if (second == text.npos) return {"", "", std::string(text)};
  return {std::string(text.substr(0, first)),
          std::string(text.substr(first + 1, second - first - 1)),
          std::string(text.substr(second + 1))};
}

}  // namespace

std::string FunctionPath(std::string_view resource, std::string_view name, std::string_view what,
                         QueryPairs query) {
  std::string path = "/_p/event/api/v1/" + std::string(resource);
  const Location location = LocationOf(name);
  if (!name.empty()) path += "/" + Segment(location.name);
  if (!what.empty()) path += "/" + std::string(what);
  query.emplace_back("bucket", location.bucket);
  query.emplace_back("scope", location.scope);
  return path + Query(query);
}

std::string NamedPath(std::string_view resource, std::string_view name, std::string_view size) {
  const Location location = LocationOf(name);
  return "/_p/event/" + std::string(resource) +
         Query({{"name", location.name},
                {"bucket", location.bucket},
                {"scope", location.scope},
                {"size", std::string(size)}});
}

}  // namespace sluice::cli
