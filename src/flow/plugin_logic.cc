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

// The constants text(ignoreCase) and text(ignoreType) after two values say how they are compared.
struct Comparing final : Prepared {
  bool ignore_case = false;
  bool ignore_type = false;
  size_t values = 0;  // the arguments before them
};

Result<std::shared_ptr<const Prepared>> PrepareComparing(std::span<const Expression> args) {
  auto made = std::make_shared<Comparing>();
  made->values = args.size();
  const auto is = [](const Expression& arg, std::string_view name) {
    return arg.space == Space::kConstant && arg.constant == Value(name);
  };
  while (made->values > 2) {
    const Expression& last = args[made->values - 1];
    if (is(last, "ignoreCase")) {
      made->ignore_case = true;
    } else if (is(last, "ignoreType")) {
      made->ignore_type = true;
    } else {
      break;
    }
    --made->values;
  }
  return std::shared_ptr<const Prepared>(std::move(made));
}

// As it is compared.
Value Form(const Value& value, const Comparing& how) {
  if (IsNothing(value)) return value;
  const bool as_text = value.is_string() || how.ignore_type;
  if (!as_text) return value;
  const std::string text = TextOf(value);
  return Value(how.ignore_case ? LowerCase(text) : text);
}

bool AllSame(const PluginInput& input) {
  const auto& how = static_cast<const Comparing&>(*input.prepared);
  const Value first = Form(input.args[0], how);
  const auto others = input.args.subspan(1, how.values - 1);
  return std::ranges::all_of(others,
                             [&](const Value& each) { return Same(first, Form(each, how)); });
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

constexpr Plugin kLogicPlugins[] = {
    {"eq", 2, kManyArguments, Equal, PrepareComparing},
    {"ne", 2, kManyArguments, NotEqual, PrepareComparing},
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

std::span<const Plugin> LogicPlugins() { return kLogicPlugins; }

}  // namespace sluice::flow
