// Text and conversions. A conversion of several values makes a list of them.
#include "base/random.h"
#include "flow/plugin.h"
#include "flow/text_form.h"

namespace sluice::flow {
namespace {

using json::Value;

template <typename Convert>
Value Each(const PluginInput& input, Convert convert) {
  if (input.args.size() == 1) return convert(input.args[0]);
  Value list = Value::EmptyArray();
  for (const Value& value : input.args) list.Append(convert(value));
  return list;
}

Result<Value> Text(const PluginInput& input) {
  return Each(input, [](const Value& value) { return Value(TextOf(value)); });
}

Result<Value> Int(const PluginInput& input) {
  return Each(input, [](const Value& value) { return Value(WholeNumberOf(value).value_or(-1)); });
}

Result<Value> Double(const PluginInput& input) {
  return Each(input, [](const Value& value) { return Value(NumberOf(value).value_or(-1)); });
}

Result<Value> Boolean(const PluginInput& input) {
  return Each(input, [](const Value& value) { return Value(IsTrue(value)); });
}

Result<Value> Binary(const PluginInput& input) {
  return Each(input, [](const Value& value) { return ToBytes(value); });
}

Result<Value> Base64(const PluginInput& input) {
  auto made = Base64OrBack(input.args[0]);
  if (!made) return BadArgument("b64", "invalid base64 text");
  return *std::move(made);
}

Result<Value> Length(const PluginInput& input) { return Value(LengthOf(input.args[0])); }

Result<Value> Part(const PluginInput& input) {
  if (!input.args[0].is_string()) return BadArgument("substring", "value is not a string");
  const int64_t start = WholeNumberOf(input.args[1]).value_or(-1);
  const bool has_end = input.args.size() > 2;
  const int64_t end = has_end ? WholeNumberOf(input.args[2]).value_or(-1) : 0;
  if (start < 0 || end < 0) return BadArgument("substring", "positions are numbers from 0");
  std::optional<size_t> before;
  if (has_end) before = static_cast<size_t>(end);
  const auto part = Substring(input.args[0].AsString(), static_cast<size_t>(start), before);
  if (!part) return BadArgument("substring", "index out of bound");
  return Value(*part);
}

Result<Value> Concat(const PluginInput& input) {
  std::string out;
  for (const Value& value : input.args) {
    if (!value.is_missing() && !value.is_null()) out += TextOf(value);
    if (out.size() > kMaxValueBytes) return BadArgument("concat", "the text is too large");
  }
  return Value(out);
}

Result<Value> Uuid(const PluginInput&) { return Value(NewUuid()); }

Result<Value> StartsWith(const PluginInput& input) {
  return Value(LowerCase(TextOf(input.args[0])).starts_with(LowerCase(TextOf(input.args[1]))));
}

Result<Value> EndsWith(const PluginInput& input) {
  return Value(LowerCase(TextOf(input.args[0])).ends_with(LowerCase(TextOf(input.args[1]))));
}

Result<Value> Includes(const PluginInput& input) {
  if (input.args[0].is_array()) {
    for (const Value& item : input.args[0].items()) {
      if (item == input.args[1]) return Value(true);
    }
    return Value(false);
  }
  const std::string text = LowerCase(TextOf(input.args[0]));
  return Value(text.find(LowerCase(TextOf(input.args[1]))) != std::string::npos);
}

constexpr Plugin kTextPlugins[] = {
    {"text", 1, kManyArguments, Text},
    {"int", 1, kManyArguments, Int},
    {"long", 1, kManyArguments, Int},
    {"float", 1, kManyArguments, Double},
    {"double", 1, kManyArguments, Double},
    {"boolean", 1, kManyArguments, Boolean},
    {"binary", 1, kManyArguments, Binary},
    {"b64", 1, 1, Base64},
    {"length", 1, 1, Length},
    {"substring", 2, 3, Part},
    {"concat", 1, kManyArguments, Concat},
    {"uuid", 0, 0, Uuid},
    {"startsWith", 2, 2, StartsWith},
    {"endsWith", 2, 2, EndsWith},
    {"includes", 2, 2, Includes},
};

}  // namespace

std::span<const Plugin> TextPlugins() { return kTextPlugins; }

}  // namespace sluice::flow
