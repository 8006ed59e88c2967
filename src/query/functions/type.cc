#include <charconv>
#include <string>

#include "base/utf8.h"
#include "query/functions/comparison.h"
#include "query/functions/function.h"
#include "query/functions/text.h"
#include "query/result_text.h"

namespace sluice::query {
namespace {

using json::Type;

// --- checks: MISSING and NULL stay what they are ---

template <bool (Value::*Is)() const>
Value IsType(FunctionContext&, Args args) {
  return (args[0]->*Is)();
}

Value IsAtom(FunctionContext&, Args args) {
  return !args[0]->is_array() && !args[0]->is_object() && !args[0]->is_bytes();
}

Value TypeOf(FunctionContext&, Args args) { return json::TypeName(args[0]->type()); }

// --- conversions ---

Value ToArray(FunctionContext&, Args args) {
  if (args[0]->is_array()) return *args[0];
  return args[0]->is_bytes() ? Value(nullptr) : Value::Array({*args[0]});
}

// The one value inside, however deep.
Value ToAtom(FunctionContext&, Args args) {
  const Value* value = args[0];
  while (value->is_array() || value->is_object()) {
    if (value->size() != 1) return nullptr;
    value = value->is_array() ? &(*value)[0] : &value->fields()[0].value;
  }
  return *value;
}

Value ToBool(FunctionContext&, Args args) { return Truth(*args[0]); }

Value ToObject(FunctionContext&, Args args) {
  return args[0]->is_object() ? *args[0] : Value::EmptyObject();
}

Value ToText(FunctionContext&, Args args) {
  const Value& value = *args[0];
  if (value.is_string()) return value;
  if (value.is_array() || value.is_object()) return nullptr;
  if (value.is_bytes()) {
    return IsValidUtf8(value.AsBytes()) ? Value(value.AsBytes()) : Value(nullptr);
  }
  const std::string text = ResultText(value);
  // NaN, infinities and times are strings there.
  return text.starts_with('"') ? std::string_view(text).substr(1, text.size() - 2)
                               : std::string_view(text);
}

Value ParseNumber(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return nullptr;
  }
  const char* end = text.data() + text.size();
  int64_t whole = 0;
  if (const auto result = std::from_chars(text.data(), end, whole);
      result.ec == std::errc() && result.ptr == end) {
    return whole;
  }
  double number = 0;
  const auto result = std::from_chars(text.data(), end, number);
  // The library also reads the "nan(...)" of C.
  if (result.ec != std::errc() || result.ptr != end || text.ends_with(')')) return nullptr;
  return number;
}

// What is left without white space and the characters of `dropped`. A single comma is the decimal
// point when there is no other.
std::string WithoutDecoration(std::string_view text, std::string_view dropped) {
  const RuneSet drops(RunesOf(dropped));
  std::string kept;
  size_t comma = std::string::npos;
  bool comma_is_point = true;
  for (size_t at = 0; at < text.size();) {
    const Rune rune = RuneAt(text, at);
    const std::string_view character = text.substr(at, rune.size);
    at += rune.size;
    if (character == "." && comma != std::string::npos) comma_is_point = false;
    if (IsSpaceRune(rune.code) || drops.contains(rune.code)) continue;
    if (character == "." || (character == "," && comma != std::string::npos)) {
      comma_is_point = false;
    } else if (character == ",") {
      comma = kept.size();
    }
    kept += character;
  }
  if (comma != std::string::npos && comma_is_point) kept[comma] = '.';
  return kept;
}

Value ToNumber(FunctionContext&, Args args) {
  const Value& value = *args[0];
  if (value.is_number()) return value;
  if (value.is_bool()) return value.AsBool() ? 1 : 0;
  if (!value.is_string()) return nullptr;
  if (args.size() == 1) return ParseNumber(value.AsString());
  if (!args[1]->is_string()) return nullptr;
  return ParseNumber(WithoutDecoration(value.AsString(), args[1]->AsString()));
}

constexpr ScalarFunction kTypeFunctions[] = {
    {"is_array", 1, 1, IsType<&Value::is_array>},
    {"is_atom", 1, 1, IsAtom},
    {"is_bin", 1, 1, IsType<&Value::is_bytes>},
    {"is_bool", 1, 1, IsType<&Value::is_bool>},
    {"is_num", 1, 1, IsType<&Value::is_number>},
    {"is_obj", 1, 1, IsType<&Value::is_object>},
    {"is_str", 1, 1, IsType<&Value::is_string>},
    {"type", 1, 1, TypeOf, Unknowns::kSeen},
    {"to_array", 1, 1, ToArray},
    {"to_atom", 1, 1, ToAtom},
    {"to_bool", 1, 1, ToBool},
    {"to_num", 1, 2, ToNumber},
    {"to_obj", 1, 1, ToObject},
    {"to_str", 1, 1, ToText},
};

constexpr FunctionAlias kTypeAliases[] = {
    {"isarray", "is_array"},   {"isatom", "is_atom"},    {"is_binary", "is_bin"},
    {"isbin", "is_bin"},       {"isbinary", "is_bin"},   {"is_boolean", "is_bool"},
    {"isbool", "is_bool"},     {"isboolean", "is_bool"}, {"is_number", "is_num"},
    {"isnum", "is_num"},       {"isnumber", "is_num"},   {"is_object", "is_obj"},
    {"isobj", "is_obj"},       {"isobject", "is_obj"},   {"is_string", "is_str"},
    {"isstr", "is_str"},       {"isstring", "is_str"},   {"type_name", "type"},
    {"typename", "type"},      {"toarray", "to_array"},  {"toatom", "to_atom"},
    {"to_boolean", "to_bool"}, {"tobool", "to_bool"},    {"toboolean", "to_bool"},
    {"to_number", "to_num"},   {"tonum", "to_num"},      {"tonumber", "to_num"},
    {"to_object", "to_obj"},   {"toobj", "to_obj"},      {"toobject", "to_obj"},
    {"to_string", "to_str"},   {"tostr", "to_str"},      {"tostring", "to_str"},
};

}  // namespace

FunctionFamily TypeFunctions() { return {kTypeFunctions, kTypeAliases}; }

}  // namespace sluice::query
