// Which types a keyspace holds: documents grouped by what they say they are, by their keys' prefix,
// or else by their fields; for each group a type file, a JSON Schema and TypeScript declarations.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "doctype/advice/shape.h"
#include "doctype/key_pattern.h"
#include "json/value.h"

namespace sluice::doctype {

struct InferredType {
  std::string name;
  std::string found_by;  // "property", "key" or "fields"
  uint64_t documents = 0;
  double share = 0;
  std::string type_file;    // YAML
  json::Value schema;       // JSON Schema
  std::string declaration;  // TypeScript
};

class ShapeInference {
 public:
  static constexpr size_t kMaxGroups = 200;

  // json.invalid
  Status Add(std::string_view key, std::string_view document);
  // `keyspace` goes into the type files. Largest group first.
  std::vector<InferredType> Finish(std::string_view keyspace) const;
  // Documents of groups beyond kMaxGroups, and those that are no objects.
  uint64_t left_out() const { return left_out_; }

 private:
  struct Group {
    std::string name;
    std::string found_by;
    std::string object;             // that holds what says what it is; empty for the root
    std::string property;           // that says what it is
    std::optional<KeyPattern> key;  // that all keys have: the name, a delimiter, something
    std::string version_property;   // empty if none was seen
    std::set<std::string> versions;
    uint64_t documents = 0;
    Shape shape;
  };

  static void AddVersion(const json::Value& document, Group* group);
  Group* GroupOf(std::string_view key, const json::Value& document);
  std::string TypeFile(const Group& group, std::string_view keyspace) const;

  std::map<std::string, Group> groups_;
  uint64_t documents_ = 0;
  uint64_t left_out_ = 0;
};

std::string ToText(const std::vector<InferredType>& types);
json::Value ToJson(const std::vector<InferredType>& types);

}  // namespace sluice::doctype
