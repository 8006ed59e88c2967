// Paths into a document, as sub-document operations and SQL++ field access write them:
//
//   a.b[0].c       field, field, element, field
//   `a.b`.`c``d`   back quotes around a name with '.', '[', ']' or '`'; double a back quote inside
//   [0].a          a path may start with an element
//   tags[-1]       negative positions count from the end
//
// The empty path is the document itself. Error path.invalid with the column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace sluice::json {

inline constexpr size_t kMaxPathSteps = 32;
inline constexpr size_t kMaxPathBytes = 1024;

// A field's name or an element's position.
using PathStep = std::variant<std::string, int64_t>;

class Path {
 public:
  Path() = default;
  explicit Path(std::vector<PathStep> steps) : steps_(std::move(steps)) {}

  static Result<Path> Parse(std::string_view text);

  const std::vector<PathStep>& steps() const { return steps_; }
  bool empty() const { return steps_.empty(); }
  std::string ToString() const;
  // The value at the path inside `root`; missing if the path leads nowhere.
  const Value& Get(const Value& root) const;
  const Value& Get(Value&& root) const = delete;  // the answer lies in the root

  bool operator==(const Path&) const = default;

 private:
  std::vector<PathStep> steps_;
};

// The position that `index` names in an array of `size` elements; `size` or more if the array has
// no such position.
inline size_t ResolveIndex(int64_t index, size_t size) {
  if (index >= 0) return static_cast<size_t>(index);
  const size_t from_end = -static_cast<uint64_t>(index);
  return from_end <= size ? size - from_end : size;
}

}  // namespace sluice::json
