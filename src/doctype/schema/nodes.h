// A compiled schema: one node per schema object, referring to each other by number.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <re2/re2.h>

#include "doctype/schema/format.h"
#include "doctype/schema/schema.h"
#include "json/value.h"

namespace sluice::doctype {

class Schema::Nodes {
 public:
  using Id = uint32_t;
  static constexpr Id kNone = static_cast<Id>(-1);

  // Bits of Node::types.
  enum TypeBit : uint8_t {
    kNull = 1,
    kBoolean = 2,
    kInteger = 4,
    kNumber = 8,
    kString = 16,
    kArray = 32,
    kObject = 64,
  };

  struct Node {
    std::string pointer;  // of the schema
    bool never = false;   // the schema `false`
    uint8_t types = 0;    // 0: any
    std::vector<json::Value> choices;
    bool has_choices = false;  // enum
    json::Value constant;      // missing: none

    json::Value minimum, maximum, above, below, multiple_of;
    std::optional<uint64_t> min_length, max_length;
    std::shared_ptr<const RE2> pattern;
    Format format = Format::kNone;

    std::vector<Id> prefix_items;
    Id items = kNone;
    Id contains = kNone;
    uint64_t min_contains = 1;
    std::optional<uint64_t> max_contains;
    std::optional<uint64_t> min_items, max_items;
    bool unique_items = false;
    Id unevaluated_items = kNone;

    std::map<std::string, Id, std::less<>> properties;
    std::vector<std::pair<std::shared_ptr<const RE2>, Id>> pattern_properties;
    Id additional = kNone;
    Id property_names = kNone;
    std::vector<std::string> required;
    std::optional<uint64_t> min_properties, max_properties;
    std::vector<std::pair<std::string, std::vector<std::string>>> dependent_required;
    std::vector<std::pair<std::string, Id>> dependent_schemas;
    Id unevaluated_properties = kNone;

    std::vector<Id> all_of, any_of, one_of;
    Id negated = kNone;
    Id condition = kNone, then = kNone, otherwise = kNone;
    Id ref = kNone;

    bool wants_evaluated() const {
      return unevaluated_items != kNone || unevaluated_properties != kNone;
    }
    // Nodes that are applied to the same value as this one.
    std::vector<Id> InPlace() const;
  };

  std::vector<Node> all;
  Id root = 0;
};

}  // namespace sluice::doctype
