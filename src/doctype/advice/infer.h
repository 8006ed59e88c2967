// Infers the types of a keyspace. Documents are grouped by a property that names their type, by the
// prefix of their keys, or else by their fields; each group gets a type file, a JSON Schema and
// TypeScript declarations.
//
// Groups with the same fields are one type: the value that divided them is then not the name of a
// type. Examples are the locales of en::1F600 and de::1F600, or a property `type` with another
// meaning.
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
  uint64_t matched = 0;  // of them, by the type file
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
  // The parts that all keys of a group are divided into: "user:", "{id}".
  struct Keys {
    bool first = true;
    bool same = true;    // all keys are divided in the same way
    std::string prefix;  // the first word of the key, with its delimiter; may be empty
    std::set<std::string> prefix_names;        // fields of the root that hold the word
    std::vector<std::string> between;          // the delimiters of the parts after it
    std::vector<std::set<std::string>> names;  // of each part: fields of the root with its value
  };
  struct Group {
    std::string name;
    std::string found_by;
    std::string object;    // the object with the property that names the type; empty for the root
    std::string property;  // the property that names the type
    Keys keys;
    std::string version_property;  // empty if none was seen
    std::set<std::string> versions;
    uint64_t unversioned = 0;  // documents without a version
    uint64_t documents = 0;
    Shape shape;
  };

  static void AddVersion(const json::Value& document, Group* group);
  static void AddKey(std::string_view key, const json::Value& document, Keys* keys);
  static void MergeKeys(const Keys& other, Keys* keys);
  static void MergeGroup(const Group& other, Group* group);
  Group* GroupOf(std::string_view key, const json::Value& document);
  std::vector<std::vector<const Group*>> Clusters() const;
  std::vector<Group> Merged(std::string_view keyspace) const;
  static Keys WithoutPrefix(Keys keys);
  static std::optional<KeyPattern> PatternOf(const Keys& keys);
  static std::string MatchOf(const Group& group, bool only, uint64_t* matched);
  static std::string TypeFile(const Group& group, std::string_view keyspace,
                              const std::string& match);

  std::map<std::string, Group> groups_;
  uint64_t documents_ = 0;
  uint64_t left_out_ = 0;
};

std::string ToText(const std::vector<InferredType>& types);
json::Value ToJson(const std::vector<InferredType>& types);

}  // namespace sluice::doctype
