// Paths to fields for migrations and findings: "name", "address.zip", "phones[].type" (of each
// element). Names are quoted as in json/path.h. Immutable.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace sluice::doctype {

class FieldPath {
 public:
  // path.invalid, type.bad_path (an element by its position; nothing that is named).
  static Result<FieldPath> Parse(std::string_view text);

  // The last name.
  const std::string& name() const { return segments_.back().back(); }
  bool has_elements() const { return segments_.size() > 1; }
  // Names, divided where the elements of an array are visited.
  const std::vector<std::vector<std::string>>& segments() const { return segments_; }

  // Visits every object inside `root` that may hold the field: the parent, which is an object.
  // Stops at the first error.
  using Visitor = std::function<Status(json::Value* parent)>;
  Status ForEachParent(json::Value* root, const Visitor& visit) const;
  // The value in a document, or missing. Requires !has_elements().
  const json::Value& Get(const json::Value& root) const;
  // Sets it, making the objects on the way that are missing. Requires !has_elements().
  // migration.mismatch if one of them is no object.
  Status Set(json::Value* root, json::Value value) const;

 private:
  Status Visit(json::Value* at, size_t segment, size_t name, const Visitor& visit) const;

  std::vector<std::vector<std::string>> segments_;
};

}  // namespace sluice::doctype
