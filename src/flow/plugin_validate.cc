// f:validate(value, text(name; Type; required)), text(name; Type; from; to), each with `; evaluate`
// at the end to get true or false instead of an error. The rule is read when a flow is compiled.
#include <optional>
#include <string>
#include <utility>

#include "flow/plugin.h"
#include "flow/text_form.h"
#include "json/compare.h"

namespace sluice::flow {
namespace {

using json::Value;

enum class Kind : uint8_t { kString, kWhole, kNumber, kBoolean, kMap, kList };

struct Rule final : Prepared {
  std::string name;
  std::string type;
  Kind kind = Kind::kString;
  bool required = false;
  bool evaluate = false;
  std::optional<Value> from;
  std::optional<Value> to;
};

std::optional<Kind> KindNamed(std::string_view name) {
  constexpr std::pair<std::string_view, Kind> kKinds[] = {
      {"String", Kind::kString}, {"Integer", Kind::kWhole}, {"Long", Kind::kWhole},
      {"Float", Kind::kNumber},  {"Double", Kind::kNumber}, {"Boolean", Kind::kBoolean},
      {"Map", Kind::kMap},       {"List", Kind::kList}};
  for (const auto& [each, kind] : kKinds) {
    if (each == name) return kind;
  }
  return std::nullopt;
}

bool IsOf(Kind kind, const Value& value) {
  switch (kind) {
    case Kind::kString:
      return value.is_string();
    case Kind::kWhole:
      return value.is_int();
    case Kind::kNumber:
      return value.is_number();
    case Kind::kBoolean:
      return value.is_bool();
    case Kind::kMap:
      return value.is_object();
    case Kind::kList:
      return value.is_array();
  }
  return false;
}

Result<Value> Limit(const Rule& rule, std::string_view text) {
  if (rule.kind == Kind::kString) return Value(text);
  const auto number = ParseNumber(text);
  const bool numeric = rule.kind == Kind::kWhole || rule.kind == Kind::kNumber;
  if (!numeric || !number) {
    return BadArgument("validate", fmt::format("'{}' is not a limit of {}", text, rule.type));
  }
  return Value(*number);
}

std::vector<std::string_view> Parts(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(';');
    parts.push_back(Trim(text.substr(0, end)));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Result<std::shared_ptr<const Prepared>> Prepare(std::span<const Expression> args) {
  if (args[1].space != Space::kConstant || !args[1].constant.is_string()) {
    return BadArgument("validate", "the rule must be text(name; Type; ...)");
  }
  std::vector<std::string_view> parts = Parts(args[1].constant.AsString());
  auto rule = std::make_shared<Rule>();
  if (parts.size() > 2 && parts.back() == "evaluate") {
    rule->evaluate = true;
    parts.pop_back();
  }
  if (parts.size() < 2 || parts.size() > 4 || parts[0].empty()) {
    return BadArgument("validate",
                       "the rule must be text(name; Type; required) or text(name; "
                       "Type; from; to)");
  }
  rule->name = std::string(parts[0]);
  rule->type = std::string(parts[1]);
  const auto kind = KindNamed(parts[1]);
  if (!kind) {
    return BadArgument("validate", fmt::format("type '{}' must be String, Integer, Long, Float, "
                                               "Double, Boolean, Map or List",
                                               parts[1]));
  }
  rule->kind = *kind;
  if (parts.size() == 3) {
    if (parts[2] != "required") return BadArgument("validate", "'required' is expected");
    rule->required = true;
  } else if (parts.size() == 4) {
    ASSIGN_OR_RETURN(rule->from, Limit(*rule, parts[2]));
    ASSIGN_OR_RETURN(rule->to, Limit(*rule, parts[3]));
  }
  return std::shared_ptr<const Prepared>(std::move(rule));
}

// The reason why the value does not fit; empty if it does.
std::string Complaint(const Rule& rule, const Value& value) {
  if (value.is_missing() || value.is_null()) {
    return rule.required ? fmt::format("{} is required.", rule.name) : "";
  }
  if (!IsOf(rule.kind, value)) {
    return fmt::format("Invalid {} - expect: {}, actual: {}", rule.name, rule.type,
                       TypeNameOf(value));
  }
  if (rule.from && json::Compare(value, *rule.from) < 0) {
    return fmt::format("{} ({}) < {}", rule.name, TextOf(value), TextOf(*rule.from));
  }
  if (rule.to && json::Compare(value, *rule.to) > 0) {
    return fmt::format("{} ({}) > {}", rule.name, TextOf(value), TextOf(*rule.to));
  }
  return "";
}

Result<Value> Validate(const PluginInput& input) {
  const auto& rule = static_cast<const Rule&>(*input.prepared);
  const std::string complaint = Complaint(rule, input.args[0]);
  if (rule.evaluate) return Value(complaint.empty());
  if (!complaint.empty()) {
    return Fail(Code::kInvalidArgument, "flow.bad_argument", "{}", complaint);
  }
  return input.args[0];
}

constexpr Plugin kValidatePlugins[] = {{"validate", 2, 2, Validate, Prepare}};

}  // namespace

std::span<const Plugin> ValidatePlugins() { return kValidatePlugins; }

}  // namespace sluice::flow
