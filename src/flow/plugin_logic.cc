// Comparisons and choices.
#include <algorithm>

#include "flow/plugin.h"
#include "flow/text_form.h"
#include "json/compare.h"

namespace sluice::flow {
namespace {

using json::Value;

bool IsNothing(const Value& value) { return value.is_missing() || value.is_null(); }

// Null equals missing; a number never equals text.
bool Same(const Value& a, const Value& b) {
  return IsNothing(a) || IsNothing(b) ? IsNothing(a) && IsNothing(b) : a == b;
}

bool AllSame(const PluginInput& input) {
  return std::all_of(input.args.begin() + 1, input.args.end(),
                     [&](const Value& each) { return Same(input.args[0], each); });
}

Result<Value> Equal(const PluginInput& input) { return Value(AllSame(input)); }
Result<Value> NotEqual(const PluginInput& input) { return Value(!AllSame(input)); }

Result<std::strong_ordering> Order(std::string_view name, const PluginInput& input) {
  const auto a = NumberOf(input.args[0]);
  const auto b = NumberOf(input.args[1]);
  if (!a || !b) return BadArgument(name, "two numbers are expected");
  const auto as_number = [](const Value& value, double number) {
    return value.is_number() ? value : Value(number);
  };
  return json::Compare(as_number(input.args[0], *a), as_number(input.args[1], *b));
}

Result<Value> Greater(const PluginInput& input) {
  ASSIGN_OR_RETURN(const auto order, Order("gt", input));
  return Value(order > 0);
}

Result<Value> Less(const PluginInput& input) {
  ASSIGN_OR_RETURN(const auto order, Order("lt", input));
  return Value(order < 0);
}

Result<Value> And(const PluginInput& input) {
  return Value(std::all_of(input.args.begin(), input.args.end(), IsTrue));
}

Result<Value> Or(const PluginInput& input) {
  return Value(std::any_of(input.args.begin(), input.args.end(), IsTrue));
}

Result<Value> Not(const PluginInput& input) { return Value(!IsTrue(input.args[0])); }

Result<Value> Ternary(const PluginInput& input) {
  return IsTrue(input.args[0]) ? input.args[1] : input.args[2];
}

Result<Value> IsNull(const PluginInput& input) { return Value(IsNothing(input.args[0])); }
Result<Value> NotNull(const PluginInput& input) { return Value(!IsNothing(input.args[0])); }

Result<Value> Default(const PluginInput& input) {
  return IsNothing(input.args[0]) ? input.args[1] : input.args[0];
}

constexpr Plugin kPlugins[] = {
    {"eq", 2, kManyArguments, Equal},
    {"ne", 2, kManyArguments, NotEqual},
    {"gt", 2, 2, Greater},
    {"lt", 2, 2, Less},
    {"and", 2, kManyArguments, And},
    {"or", 2, kManyArguments, Or},
    {"not", 1, 1, Not},
    {"ternary", 3, 3, Ternary},
    {"isNull", 1, 1, IsNull},
    {"notNull", 1, 1, NotNull},
    {"defaultValue", 2, 2, Default},
};

}  // namespace

std::span<const Plugin> LogicPlugins() { return kPlugins; }

}  // namespace sluice::flow
