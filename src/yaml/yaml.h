// Reads YAML files that people write (configuration, app directories). It is strict, knows the line
// and column of every node, and bounds the memory that a small file can use (Limits).
//
// Texts are UTF-8. One document per file. Keys are scalars and may stand only once in a map.
// Aliases work and count against Limits::max_nodes each time they are used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace sluice::yaml {

struct Limits {
  size_t max_bytes = 1 << 20;
  size_t max_nodes = 100'000;
  size_t max_depth = 32;
};

struct Entry;

struct Node {
  enum class Kind : uint8_t { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  std::string text;            // kScalar: as written, without quotes
  bool quoted = false;         // kScalar: in quotes or a block, so a string whatever it looks like
  std::vector<Node> items;     // kList
  std::vector<Entry> entries;  // kMap, in the order of the file
  uint32_t line = 1;
  uint32_t column = 1;

  bool is_null() const { return kind == Kind::kNull; }
  bool is_scalar() const { return kind == Kind::kScalar; }
  bool is_list() const { return kind == Kind::kList; }
  bool is_map() const { return kind == Kind::kMap; }
  const Node* Find(std::string_view key) const;  // null when there is none
};

struct Entry {
  std::string key;
  uint32_t line = 1;  // of the key
  uint32_t column = 1;
  Node value;
};

// "nothing", "a value", "a list", "a map": for messages that say what was found.
std::string_view KindName(Node::Kind kind);

// An empty text gives a kNull node. `file` goes into errors: yaml.invalid, yaml.too_large.
Result<Node> Parse(std::string_view text, std::string_view file, const Limits& limits = {});

// Reads and parses a file; also file.unreadable.
Result<Node> ParseFile(const std::string& path, const Limits& limits = {});

}  // namespace sluice::yaml
