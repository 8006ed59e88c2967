#include "doctype/document_diff.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "json/compare.h"
#include "json/path.h"
#include "json/print.h"

namespace sluice::doctype {
namespace {

using json::Value;

std::string Below(const std::string& path, std::string_view name) {
  const std::string step = json::Path({std::string(name)}).ToString();
  return path.empty() ? step : path + "." + step;
}

std::string Below(const std::string& path, size_t index) {
  return fmt::format("{}[{}]", path, index);
}

void Compare(const Value& before, const Value& after, const std::string& path,
             std::vector<DocumentChange>* changes) {
  if (changes->size() >= kMaxChanges) return;
  if (before.is_object() && after.is_object()) {
    for (const json::Field& field : before.fields()) {
      Compare(field.value, after[field.name()], Below(path, field.name()), changes);
    }
    for (const json::Field& field : after.fields()) {
      if (before.Find(field.name()) != nullptr) continue;
      Compare(Value(), field.value, Below(path, field.name()), changes);
    }
  } else if (before.is_array() && after.is_array()) {
    const size_t size = std::max(before.size(), after.size());
    for (size_t i = 0; i < size; ++i) Compare(before[i], after[i], Below(path, i), changes);
  } else if (!json::Equal(before, after)) {
    changes->push_back({path, before, after});
  }
}

// Calls `visit(scalar, path)`.
template <typename Visit>
void ForEachScalar(const Value& value, const std::string& path, const Visit& visit) {
  for (const json::Field& field : value.fields()) {
    ForEachScalar(field.value, Below(path, field.name()), visit);
  }
  for (size_t i = 0; i < (value.is_array() ? value.size() : 0); ++i) {
    ForEachScalar(value[i], Below(path, i), visit);
  }
  if (!value.is_object() && !value.is_array()) visit(value, path);
}

// Shorter ones are parts of other texts by chance.
constexpr size_t kLeastPart = 4;

std::string TextOf(const Value& value) {
  return value.is_string() ? std::string(value.AsString()) : json::ToText(value);
}

// Only letters and digits: 123-456-7890 and (123) 4567890 give the same.
std::string Letters(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool kept = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      static_cast<unsigned char>(c) >= 0x80;
    if (kept) out += c;
  }
  return out;
}

template <typename Visit>
void ForEachWord(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" \t,;/|"), text.size());
    const std::string word = Letters(text.substr(0, end));
    if (!word.empty()) visit(word);
    text.remove_prefix(std::min(text.size(), end + 1));
  }
}

// Each word is a value by itself, or a part of one: "Joe van Smith" was split.
bool Divided(std::string_view text, const std::set<std::string>& values) {
  size_t words = 0;
  bool all = true;
  ForEachWord(text, [&](const std::string& word) {
    ++words;
    all = all && values.contains(word);
  });
  return all && words > 1;
}

}  // namespace

std::vector<DocumentChange> Diff(const Value& before, const Value& after) {
  std::vector<DocumentChange> changes;
  Compare(before, after, "", &changes);
  return changes;
}

std::string ToText(const std::vector<DocumentChange>& changes) {
  std::string out;
  for (const DocumentChange& change : changes) {
    const std::string path = change.path.empty() ? "document" : change.path;
    if (change.before.is_missing()) {
      out += fmt::format("+ {}: {}\n", path, json::ToText(change.after));
    } else if (change.after.is_missing()) {
      out += fmt::format("- {}: {}\n", path, json::ToText(change.before));
    } else {
      out += fmt::format("~ {}: {} -> {}\n", path, json::ToText(change.before),
                         json::ToText(change.after));
    }
  }
  return out;
}

Value ToJson(const std::vector<DocumentChange>& changes) {
  Value out = Value::EmptyArray();
  for (const DocumentChange& change : changes) {
    Value row = Value::Object({{"path", change.path}});
    row.Set("before", change.before);
    row.Set("after", change.after);
    out.Append(std::move(row));
  }
  return out;
}

std::vector<std::string> LostFields(const Value& before, const Value& after) {
  std::set<std::string> paths;  // that have a value
  std::set<std::string> values;
  std::string texts;  // all of them, to look for parts of them
  ForEachScalar(after, "", [&](const Value& value, const std::string& path) {
    if (value.is_null()) return;
    paths.insert(path);
    values.insert(Letters(TextOf(value)));
    ForEachWord(TextOf(value), [&](const std::string& word) { values.insert(word); });
    texts.append(Letters(TextOf(value))).append(1, '\0');
  });
  std::vector<std::string> lost;
  ForEachScalar(before, "", [&](const Value& value, const std::string& path) {
    if (value.is_null() || paths.contains(path)) return;  // it has another value: a cast
    const std::string text = TextOf(value);
    const std::string letters = Letters(text);
    const bool whole = letters.empty() || values.contains(letters) ||
                       (letters.size() >= kLeastPart && texts.find(letters) != std::string::npos);
    if (!whole && !Divided(text, values)) lost.push_back(path);
  });
  return lost;
}

}  // namespace sluice::doctype
