// Whole structures: JSON text, decision tables, and the case of keys.
#include <cctype>
#include <string>
#include <vector>

#include "flow/plugin.h"
#include "flow/text_form.h"
#include "json/parse.h"

namespace sluice::flow {
namespace {

using json::Field;
using json::Value;

std::optional<std::string_view> TextView(const Value& value) {
  if (value.is_string()) return value.AsString();
  if (value.is_bytes()) return value.AsBytes();
  return std::nullopt;
}

// A map or a list. Numbers and texts have constants of their own.
Result<Value> ParseStructure(std::string_view function, std::string_view text) {
  auto value = json::Parse(text);
  if (!value) return BadArgument(function, "no JSON: " + value.error().message());
  if (!value->is_object() && !value->is_array()) {
    return BadArgument(function, "JSON of a map or a list is expected");
  }
  return *std::move(value);
}

Result<Value> Json(const PluginInput& input) {
  const auto text = TextView(input.args[0]);
  if (!text) return BadArgument("json", "a text is expected");
  if (Trim(*text).empty()) return Value::EmptyObject();
  return ParseStructure("json", *text);
}

// A list, or JSON text of one.
Result<Value> ListOf(const Value& value, std::string_view what) {
  Value list = value;
  if (const auto text = TextView(value)) {
    ASSIGN_OR_RETURN(list, ParseStructure("lookup", *text));
  }
  if (!list.is_array()) return BadArgument("lookup", fmt::format("'{}' must be a list", what));
  return list;
}

// The first rule of `keys` whose list has the value, by its text in any case.
Result<Value> Lookup(const PluginInput& input) {
  Value table = input.args[0];
  if (const auto text = TextView(table)) {
    ASSIGN_OR_RETURN(table, ParseStructure("lookup", *text));
  }
  if (!table.is_object()) return BadArgument("lookup", "a map with 'keys' is expected");
  const Value& value = input.args[1];
  if (value.is_missing() || value.is_null()) return Value();
  const std::string wanted = LowerCase(TextOf(value));
  ASSIGN_OR_RETURN(const Value keys, ListOf(table["keys"], "keys"));
  for (const Value& key : keys.items()) {
    const std::string name = TextOf(key);
    ASSIGN_OR_RETURN(const Value listed, ListOf(table[name], name));
    for (const Value& each : listed.items()) {
      if (LowerCase(TextOf(each)) == wanted) return Value(name);
    }
  }
  return Value();
}

bool IsUpper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool IsLower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool IsSeparator(char c) { return c == '_' || c == '-' || c == '.'; }

// Words begin after a separator, at a capital letter after another character, and at the last
// capital of several before a small letter: myXMLKey is my, XML, Key.
std::vector<std::string> WordsOf(std::string_view key) {
  std::vector<std::string> words(1);
  for (size_t i = 0; i < key.size(); ++i) {
    if (IsSeparator(key[i])) {
      words.emplace_back();
      continue;
    }
    const bool after_small = i > 0 && !IsUpper(key[i - 1]) && !IsSeparator(key[i - 1]);
    const bool before_small = i > 0 && i + 1 < key.size() && IsLower(key[i + 1]);
    if (IsUpper(key[i]) && (after_small || before_small)) words.emplace_back();
    words.back() += key[i];
  }
  std::erase_if(words, [](const std::string& word) { return word.empty(); });
  return words;
}

std::string CamelCase(std::string_view key) {
  std::string made;
  for (const std::string& word : WordsOf(key)) {
    std::string part = LowerCase(word);
    if (!made.empty()) part[0] = static_cast<char>(std::toupper(part[0]));
    made += part;
  }
  return made;
}

std::string SnakeCase(std::string_view key) {
  std::string made;
  for (const std::string& word : WordsOf(key)) made += (made.empty() ? "" : "_") + LowerCase(word);
  return made;
}

// Values are kept to kMaxNesting levels, so the recursion ends.
Value WithKeys(const Value& value, std::string (*rename)(std::string_view)) {
  if (value.is_array()) {
    Value list = Value::EmptyArray();
    for (const Value& item : value.items()) list.Append(WithKeys(item, rename));
    return list;
  }
  if (!value.is_object()) return value;
  Value map = Value::EmptyObject();
  for (const Field& field : value.fields()) {
    std::string name = rename(field.name());
    if (name.empty()) name = field.name();  // nothing but separators
    map.Set(name, WithKeys(field.value, rename));
  }
  return map;
}

Result<Value> ToCamelCase(const PluginInput& input) { return WithKeys(input.args[0], CamelCase); }
Result<Value> ToSnakeCase(const PluginInput& input) { return WithKeys(input.args[0], SnakeCase); }

constexpr Plugin kShapePlugins[] = {
    {"json", 1, 1, Json},
    {"lookup", 2, 2, Lookup},
    {"camelCase", 1, 1, ToCamelCase},
    {"snakeCase", 1, 1, ToSnakeCase},
};

}  // namespace

std::span<const Plugin> ShapePlugins() { return kShapePlugins; }

}  // namespace sluice::flow
