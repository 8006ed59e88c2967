// Reads and checks the value of each keyword.
#include <algorithm>

#include "doctype/schema/compiler.h"
#include "json/compare.h"
#include "json/print.h"

namespace sluice::doctype {
namespace {

using json::Value;

// ECMAScript's \u0041 and \u{41} are RE2's \x{0041}; all else that both know is written alike.
std::string ToRe2(std::string_view pattern) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '\\' || i + 1 == pattern.size()) {
      out += pattern[i];
      continue;
    }
    const char next = pattern[++i];
    if (next != 'u') {
      out.append("\\").append(1, next);
    } else if (i + 1 < pattern.size() && pattern[i + 1] == '{') {
      out += "\\x";
    } else {
      out.append("\\x{").append(pattern.substr(i + 1, 4)).append("}");
      i += 4;
    }
  }
  return out;
}

}  // namespace

bool Schema::Compiler::Expect(const At& at, bool fits, std::string_view expected) {
  if (!fits) {
    AddProblem("schema.invalid", at.place,
               fmt::format("expected {}, found {}", expected, json::TypeName(at.value.type())));
  }
  return fits;
}

std::optional<uint64_t> Schema::Compiler::Count(const At& at) {
  const double number = at.value.is_number() ? at.value.ToDouble() : -1;
  constexpr double kMost = 1e15;
  const bool whole = number >= 0 && number <= kMost &&
                     number == static_cast<double>(static_cast<uint64_t>(number));
  if (!Expect(at, whole, "a whole number that is not negative")) return std::nullopt;
  return static_cast<uint64_t>(number);
}

std::vector<std::string> Schema::Compiler::Names(const At& at, const Value& list,
                                                 const std::string& place) {
  std::vector<std::string> names;
  const At inner{at.schema, at.pointer, list, place, at.id};
  const bool texts = list.is_array() && std::ranges::all_of(list.items(), [](const Value& item) {
                       return item.is_string();
                     });
  if (!Expect(inner, texts, "an array of strings")) return names;
  for (const Value& item : list.items()) names.emplace_back(item.AsString());
  return names;
}

std::shared_ptr<const RE2> Schema::Compiler::Pattern(std::string_view text,
                                                     const std::string& place) {
  RE2::Options options;
  options.set_log_errors(false);
  auto pattern = std::make_shared<const RE2>(ToRe2(text), options);
  if (pattern->ok()) return pattern;
  AddProblem("schema.bad_pattern", place,
             fmt::format("'{}' is not a usable pattern: {}", text, pattern->error()));
  return nullptr;
}

Schema::Nodes::Id Schema::Compiler::Sub(const At& at) { return Refer(at.value, at.place); }

std::vector<Schema::Nodes::Id> Schema::Compiler::SubList(const At& at) {
  std::vector<Id> ids;
  if (!Expect(at, at.value.is_array() && at.value.size() > 0, "an array of schemas")) return ids;
  for (size_t i = 0; i < at.value.size(); ++i) {
    ids.push_back(Refer(at.value[i], PointerBelow(at.place, std::to_string(i))));
  }
  return ids;
}

void Schema::Compiler::Refused(const At& at) {
  AddProblem("schema.unsupported", at.place, "this keyword is not supported; use $ref and $defs");
}

void Schema::Compiler::Type(const At& at) {
  const Value list = at.value.is_array() ? at.value : Value::Array({at.value});
  constexpr std::pair<std::string_view, uint8_t> kNames[] = {
      {"null", Nodes::kNull},     {"boolean", Nodes::kBoolean}, {"integer", Nodes::kInteger},
      {"number", Nodes::kNumber}, {"string", Nodes::kString},   {"array", Nodes::kArray},
      {"object", Nodes::kObject}};
  for (const Value& item : list.items()) {
    uint8_t bit = 0;
    for (const auto& [name, value] : kNames) {
      if (item.is_string() && item.AsString() == name) bit = value;
    }
    if (bit == 0) {
      AddProblem("schema.invalid", at.place,
                 fmt::format("there is no type {}", json::ToText(item)));
    }
    NodeAt(at).types |= bit;
  }
}

void Schema::Compiler::Enum(const At& at) {
  if (!Expect(at, at.value.is_array(), "an array")) return;
  NodeAt(at).has_choices = true;
  NodeAt(at).choices.assign(at.value.items().begin(), at.value.items().end());
}

void Schema::Compiler::Const(const At& at) { NodeAt(at).constant = at.value; }

void Schema::Compiler::NumberLimit(const At& at) {
  if (!Expect(at, at.value.is_number(), "a number")) return;
  Node& node = NodeAt(at);
  const std::string_view name = std::string_view(at.place).substr(at.pointer.size() + 1);
  if (name == "multipleOf") {
    if (Expect(at, at.value.ToDouble() > 0, "a number above 0")) node.multiple_of = at.value;
    return;
  }
  (name == "minimum"            ? node.minimum
   : name == "maximum"          ? node.maximum
   : name == "exclusiveMinimum" ? node.above
                                : node.below) = at.value;
}

void Schema::Compiler::CountLimit(const At& at) {
  const auto count = Count(at);
  if (!count) return;
  Node& node = NodeAt(at);
  const std::string_view name = std::string_view(at.place).substr(at.pointer.size() + 1);
  if (name == "minContains") {
    node.min_contains = *count;
    return;
  }
  (name == "minLength"       ? node.min_length
   : name == "maxLength"     ? node.max_length
   : name == "minItems"      ? node.min_items
   : name == "maxItems"      ? node.max_items
   : name == "maxContains"   ? node.max_contains
   : name == "minProperties" ? node.min_properties
                             : node.max_properties) = *count;
}

void Schema::Compiler::PatternKeyword(const At& at) {
  if (!Expect(at, at.value.is_string(), "a pattern")) return;
  NodeAt(at).pattern = Pattern(at.value.AsString(), at.place);
}

void Schema::Compiler::FormatKeyword(const At& at) {
  if (!Expect(at, at.value.is_string(), "the name of a format")) return;
  const auto format = FormatOf(at.value.AsString());
  if (!format) {
    return AddWarning("schema.unknown_format", at.place,
                      fmt::format("there is no format '{}'", at.value.AsString()));
  }
  NodeAt(at).format = *format;
}

void Schema::Compiler::Items(const At& at) {
  if (!at.value.is_array()) {
    NodeAt(at).items = Sub(at);
    return;
  }
  if (draft_ == Draft::k2020) {
    return AddProblem("schema.invalid", at.place,
                      "expected a schema; a list of them is prefixItems in draft 2020-12");
  }
  if (at.value.size() == 0) return;
  NodeAt(at).prefix_items = SubList(at);
  const Value* const rest = at.schema.Find("additionalItems");
  if (rest == nullptr) return;
  const Id id = Refer(*rest, PointerBelow(at.pointer, "additionalItems"));
  NodeAt(at).items = id;
}

// Counts only beside a list in `items`, where it is read.
void Schema::Compiler::AdditionalItems(const At& at) {
  if (draft_ != Draft::k2020) return;
  AddWarning("schema.unknown_keyword", at.place,
             "'additionalItems' means nothing in draft 2020-12: use items");
}

void Schema::Compiler::PrefixItems(const At& at) {
  auto ids = SubList(at);
  NodeAt(at).prefix_items = std::move(ids);
}

void Schema::Compiler::UniqueItems(const At& at) {
  if (Expect(at, at.value.is_bool(), "true or false")) NodeAt(at).unique_items = at.value.AsBool();
}

void Schema::Compiler::Properties(const At& at) {
  if (!Expect(at, at.value.is_object(), "an object of schemas")) return;
  for (const json::Field& field : at.value.fields()) {
    const Id id = Refer(field.value, PointerBelow(at.place, field.name()));
    NodeAt(at).properties.emplace(field.name(), id);
  }
}

void Schema::Compiler::PatternProperties(const At& at) {
  if (!Expect(at, at.value.is_object(), "an object of schemas")) return;
  for (const json::Field& field : at.value.fields()) {
    const std::string place = PointerBelow(at.place, field.name());
    const Id id = Refer(field.value, place);
    NodeAt(at).pattern_properties.emplace_back(Pattern(field.name(), place), id);
  }
}

void Schema::Compiler::Required(const At& at) {
  NodeAt(at).required = Names(at, at.value, at.place);
}

void Schema::Compiler::Dependencies(const At& at) {
  if (!Expect(at, at.value.is_object(), "an object")) return;
  for (const json::Field& field : at.value.fields()) {
    const std::string place = PointerBelow(at.place, field.name());
    if (field.value.is_array()) {
      NodeAt(at).dependent_required.emplace_back(field.name(), Names(at, field.value, place));
    } else {
      const Id id = Refer(field.value, place);
      NodeAt(at).dependent_schemas.emplace_back(field.name(), id);
    }
  }
}

void Schema::Compiler::DependentRequired(const At& at) {
  if (!Expect(at, at.value.is_object(), "an object of arrays")) return;
  for (const json::Field& field : at.value.fields()) {
    const std::string place = PointerBelow(at.place, field.name());
    NodeAt(at).dependent_required.emplace_back(field.name(), Names(at, field.value, place));
  }
}

void Schema::Compiler::DependentSchemas(const At& at) {
  if (!Expect(at, at.value.is_object(), "an object of schemas")) return;
  for (const json::Field& field : at.value.fields()) {
    const Id id = Refer(field.value, PointerBelow(at.place, field.name()));
    NodeAt(at).dependent_schemas.emplace_back(field.name(), id);
  }
}

void Schema::Compiler::Schemas(const At& at) {
  auto ids = SubList(at);
  Node& node = NodeAt(at);
  (at.place.ends_with("/allOf")   ? node.all_of
   : at.place.ends_with("/anyOf") ? node.any_of
                                  : node.one_of) = std::move(ids);
}

void Schema::Compiler::OneSchema(const At& at) {
  const std::string_view name = std::string_view(at.place).substr(at.pointer.size() + 1);
  if ((name == "then" || name == "else") && at.schema.Find("if") == nullptr) return;
  const Id id = Sub(at);
  Node& node = NodeAt(at);
  (name == "contains"                ? node.contains
   : name == "unevaluatedItems"      ? node.unevaluated_items
   : name == "additionalProperties"  ? node.additional
   : name == "propertyNames"         ? node.property_names
   : name == "unevaluatedProperties" ? node.unevaluated_properties
   : name == "not"                   ? node.negated
   : name == "if"                    ? node.condition
   : name == "then"                  ? node.then
                                     : node.otherwise) = id;
}

void Schema::Compiler::Ref(const At& at) {
  if (!Expect(at, at.value.is_string(), "a reference")) return;
  const std::string whole(at.value.AsString());
  std::string_view text = whole;
  if (!own_id_.empty() && text.starts_with(own_id_) &&
      (text.size() == own_id_.size() || text[own_id_.size()] == '#')) {
    text.remove_prefix(own_id_.size());
  }
  std::string pointer;
  const Value* target = nullptr;
  if (text.empty() || text == "#") {
    target = &schema_;
  } else if (text.starts_with("#/")) {
    // Percent-encoded, as it is the fragment of an address.
    for (size_t i = 1; i < text.size(); ++i) {
      unsigned code = 0;
      if (text[i] == '%' && i + 2 < text.size() &&
          std::sscanf(std::string(text.substr(i + 1, 2)).c_str(), "%2x", &code) == 1) {
        pointer += static_cast<char>(code);
        i += 2;
      } else {
        pointer += text[i];
      }
    }
    target = ValueAt(schema_, pointer);
  } else if (const auto found = anchors_.find(std::string(text)); found != anchors_.end()) {
    pointer = found->second;
    target = ValueAt(schema_, pointer);
  }
  if (target == nullptr) {
    return AddProblem("schema.unresolved_ref", at.place,
                      fmt::format("nothing is at '{}'; schemas of other documents are not "
                                  "fetched: put them under $defs",
                                  whole));
  }
  const Id id = Refer(*target, pointer);
  NodeAt(at).ref = id;
}

// Definitions are compiled even if nothing refers to them, so that their errors are reported.
void Schema::Compiler::Definitions(const At& at) {
  if (!Expect(at, at.value.is_object(), "an object of schemas")) return;
  for (const json::Field& field : at.value.fields()) {
    Refer(field.value, PointerBelow(at.place, field.name()));
  }
}

}  // namespace sluice::doctype
