// JSONPath on the left side of a mapping: `$.input.body.users[*].id`. The first name is a dataset,
// as in other mappings. Keys (`.name`, `['name']`), indexes (`[0]`, `[-1]`), slices (`[1:3]`),
// lists of both (`[0,2]`), wildcards (`.*`, `[*]`), descent (`..name`) and filters on one field
// (`[?(@.price < 10)]`, `[?(@.name)]`) are known. Immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "flow/expression.h"
#include "json/value.h"

namespace sluice::flow {

class JsonPath {
 public:
  static constexpr size_t kMaxSteps = 64;
  static constexpr size_t kMaxWork = 1'000'000;  // values looked at

  // Errors: flow.bad_mapping.
  static Result<JsonPath> Parse(std::string_view text, Side side);

  Space space() const { return space_; }
  // A single value if the path can lead to only one place (missing if the root has none), otherwise
  // a list. Error flow.bad_argument for too many results.
  Result<json::Value> Search(const json::Value& root) const;

 private:
  friend class JsonPathReader;

  struct Filter {
    enum class Compare : uint8_t {
      kExists,
      kEqual,
      kNotEqual,
      kLess,
      kLessEqual,
      kMore,
      kMoreEqual
    };
    std::vector<std::string> keys;
    Compare compare = Compare::kExists;
    json::Value value;
  };
  struct Part {
    enum class Kind : uint8_t { kKeys, kIndexes, kSlice, kAll, kFilter };
    Kind kind = Kind::kKeys;
    bool descend = false;
    std::vector<std::string> keys;
    std::vector<int64_t> indexes;
    std::optional<int64_t> from;
    std::optional<int64_t> to;
    std::shared_ptr<const Filter> filter;
  };
  struct Found {
    std::vector<const json::Value*> values;
    size_t work = 0;
  };

  static Status Select(const Part& part, const json::Value& at, Found* found);
  static Status Descend(const Part& part, const json::Value& at, Found* found);
  static bool Matches(const Filter& filter, const json::Value& at);

  Space space_ = Space::kInput;
  std::vector<Part> parts_;
  bool definite_ = true;
};

}  // namespace sluice::flow
