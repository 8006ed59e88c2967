// Reads a few paths of a document's text without making values of the rest. If a name is repeated,
// the last field counts, as in Parse. Text that is not JSON is never read outside its bounds, but
// json.invalid is reported only if a path meets the error: call Validate first on text of unknown
// origin.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/path.h"
#include "json/value.h"

namespace sluice::json {

// The text of the value at the path, a view into `document`; nullopt if the path leads nowhere.
Result<std::optional<std::string_view>> FindRaw(std::string_view document, const Path& path);

// Several paths in one pass over the text. Made once for a query or an index and used for every
// document; immutable, so any number of threads may use it at once.
class Extractor {
 public:
  explicit Extractor(const std::vector<Path>& paths);

  // One view per path, in their order; an empty view for a path that leads nowhere.
  Result<std::vector<std::string_view>> Raw(std::string_view document) const;
  // One value per path, in their order; missing for a path that leads nowhere.
  Result<std::vector<Value>> Values(std::string_view document) const;
  // The same, written to existing values: at least as many as paths.
  Status Values(std::string_view document, std::span<Value> values) const;

 private:
  // The paths as a tree: nodes_[0] is the document, children are reached by a name or a position.
  struct Node {
    std::vector<std::pair<std::string, size_t>> fields;
    std::vector<std::pair<int64_t, size_t>> elements;
    std::vector<size_t> results;  // the paths that end here
    bool from_end = false;        // whether an element is counted from the end
  };
  class Walk;

  size_t ChildOf(size_t node, const PathStep& step);

  std::vector<Node> nodes_;
  size_t path_count_;
};

}  // namespace sluice::json
