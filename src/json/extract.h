// A few paths out of a document's text, without making values of the rest. Of fields with the same
// name the last one counts, as in Parse. Text that is not JSON is never read outside its bounds;
// json.invalid is reported where it is noticed, so call Validate first on text of unknown origin.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/path.h"
#include "json/value.h"

namespace sluice::json {

// The text of what the path leads to, a view into `document`; nothing if nothing is there.
Result<std::optional<std::string_view>> FindRaw(std::string_view document, const Path& path);

// Several paths in one pass over the text. Made once for a query or an index and used for every
// document; immutable, so any number of threads may use it at once.
class Extractor {
 public:
  explicit Extractor(const std::vector<Path>& paths);

  // One view per path, in their order; an empty view where nothing is there.
  Result<std::vector<std::string_view>> Raw(std::string_view document) const;
  // One value per path, in their order; missing where nothing is there.
  Result<std::vector<Value>> Values(std::string_view document) const;
  // The same into values that are there already, at least as many as paths.
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
