// The differences between two versions of a document, for histories, for fixtures of migrations,
// and to find values that a migration lost.
#pragma once

#include <string>
#include <vector>

#include "json/value.h"

namespace sluice::doctype {

struct DocumentChange {
  std::string path;    // "phones[0].number"; empty for the document itself
  json::Value before;  // missing if it was added
  json::Value after;   // missing if it was removed
};

// At most this many; a document that has more is another one.
inline constexpr size_t kMaxChanges = 1000;

// Fields in the order of `before`, then those that only `after` has. Elements of arrays are
// compared by their position. Numbers that are equal are, however they are written.
std::vector<DocumentChange> Diff(const json::Value& before, const json::Value& after);

// A line each: "- path: value", "+ path: value", "~ path: value -> value".
std::string ToText(const std::vector<DocumentChange>& changes);
json::Value ToJson(const std::vector<DocumentChange>& changes);

// Paths of scalars whose value is nowhere in `after`, not even as a part of a string.
std::vector<std::string> LostFields(const json::Value& before, const json::Value& after);

}  // namespace sluice::doctype
