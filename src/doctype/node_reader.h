// Walks the tree of a type file and collects its errors, each with its place. Messages begin with
// the path of the error, for trees without places (JSON). One thread; lives while one file is read.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "doctype/problems.h"
#include "yaml/yaml.h"

namespace sluice::doctype {

// "limits.array" and "phones" to "limits.array.phones".
std::string PathBelow(const std::string& where, std::string_view key);

class NodeReader {
 public:
  using Visitor = std::function<void(const yaml::Entry&, const std::string& where)>;

  // Both outlive it.
  NodeReader(const std::string& file, Problems* problems) : file_(file), problems_(problems) {}

  // Nowhere, if it is from JSON.
  Place PlaceOf(const yaml::Node& node) const {
    return node.line == 0 ? Place{} : Place{file_, node.line, node.column};
  }
  // type.invalid unless the status has an id of its own.
  void Problem(const yaml::Node& node, const std::string& where, const std::string& message);
  void Problem(const yaml::Node& node, const std::string& where, const Status& status);

  // Visits a map's entries; keys that are not known are problems. No names: keys are the user's.
  void ForEach(const yaml::Node& node, const std::string& where,
               std::initializer_list<std::string> known, const Visitor& visit);
  // Each is a problem and nothing when the node is something else.
  std::optional<std::string> Text(const yaml::Node& node, const std::string& where);
  // Reads the version of a schema. "none" and similar words are not versions: `unversioned` gives
  // the version of documents that name none.
  std::optional<std::string> Version(const yaml::Node& node, const std::string& where);
  std::optional<uint64_t> Number(const yaml::Node& node, const std::string& where, uint64_t least);
  std::optional<uint64_t> DurationMs(const yaml::Node& node, const std::string& where);
  std::optional<uint64_t> SizeBytes(const yaml::Node& node, const std::string& where);
  // The position of the text among the choices.
  std::optional<size_t> Choice(const yaml::Node& node, const std::string& where,
                               const std::vector<std::string>& choices);

 private:
  const std::string& file_;
  Problems* const problems_;
};

}  // namespace sluice::doctype
