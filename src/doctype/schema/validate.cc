// A document is checked twice if need be: once to the first thing that is wrong, without keeping
// anything, and only if there is one, again for the list.
#include <cmath>

#include "doctype/schema/nodes.h"
#include "json/compare.h"
#include "json/print.h"

namespace sluice::doctype {
namespace {

using json::Value;

// The place in the document: a list on the stack, from the inside out.
struct Step {
  const Step* up = nullptr;
  std::string_view name = {};
  size_t index = 0;
  bool element = false;
};

std::string PointerOf(const Step* step) {
  if (step == nullptr) return "";
  std::string out = PointerOf(step->up) + '/';
  if (step->element) return out + std::to_string(step->index);
  for (const char c : step->name) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

bool IsWhole(const Value& value) {
  if (value.is_int()) return true;
  const double number = value.ToDouble();
  return std::isfinite(number) && std::trunc(number) == number;
}

bool IsMultiple(const Value& value, const Value& of) {
  if (value.is_int() && of.is_int()) return value.AsInt() % of.AsInt() == 0;
  const double quotient = value.ToDouble() / of.ToDouble();
  if (!std::isfinite(quotient)) return false;
  return std::abs(quotient - std::round(quotient)) <= 1e-9 * std::max(1.0, std::abs(quotient));
}

uint64_t Characters(std::string_view text) {
  uint64_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

// true is not 1, in schemas as in our order of values; 1.0 is 1.
// What one step stands for, in time.
constexpr size_t kBytesOfStep = 8;      // of a text that is read
constexpr size_t kStepsOfPattern = 16;  // of one that is tried

bool Same(const Value& a, const Value& b) { return json::Equal(a, b); }

}  // namespace

class Schema::Validator {
 public:
  // `errors` null: stop at the first one.
  Validator(const Nodes& nodes, std::vector<SchemaError>* errors)
      : nodes_(nodes), errors_(errors) {}

  bool CheckDocument(const Value& document) {
    const bool ok = Check(nodes_.root, document, nullptr, nullptr);
    if (steps_ <= kMaxSteps) return ok;
    // Not all of it was looked at.
    return errors_ != nullptr && !errors_->empty() ? false
                                                   : TooMuch(nodes_.all[nodes_.root], nullptr);
  }

 private:
  // The elements or fields that some schema has evaluated.
  using Evaluated = std::vector<bool>;

  bool Check(Nodes::Id id, const Value& value, const Step* at, Evaluated* evaluated) {
    const Node& node = nodes_.all[id];
    if (++steps_ > kMaxSteps) return TooMuch(node, at);
    if (node.never) return Wrong(node, at, "", "nothing is allowed here");
    Evaluated own;
    Evaluated* seen = evaluated;
    if (seen == nullptr && node.wants_evaluated()) seen = &own;
    if (seen != nullptr && seen->empty()) seen->resize(value.size());
    bool ok = CheckAny(node, value, at);
    if (Go(ok) && value.is_string()) ok &= CheckString(node, value, at);
    if (Go(ok) && value.is_number()) ok &= CheckNumber(node, value, at);
    if (Go(ok)) ok &= CheckInPlace(node, value, at, seen);
    if (Go(ok) && value.is_object()) ok &= CheckObject(node, value, at, seen);
    if (Go(ok) && value.is_array()) ok &= CheckArray(node, value, at, seen);
    return ok;
  }

  using Node = Nodes::Node;
  static constexpr Nodes::Id kNone = Nodes::kNone;

  // Whether there is a reason to look further.
  bool Go(bool ok) const {
    return steps_ <= kMaxSteps && (ok || (errors_ != nullptr && errors_->size() < kMaxErrors));
  }

  template <typename... Args>
  bool Wrong(const Node& node, const Step* at, std::string_view keyword,
             fmt::format_string<Args...> format, Args&&... args) {
    if (errors_ != nullptr && errors_->size() < kMaxErrors) {
      errors_->push_back(
          {PointerOf(at),
           keyword.empty() ? node.pointer : fmt::format("{}/{}", node.pointer, keyword),
           fmt::format(format, std::forward<Args>(args)...)});
    }
    return false;
  }

  bool TooMuch(const Node& node, const Step* at) {
    return Wrong(node, at, "", "the schema needs more than {} steps for this document", kMaxSteps);
  }

  // Whether it fits, without errors being kept.
  bool Fits(Nodes::Id id, const Value& value, const Step* at, Evaluated* evaluated) {
    std::vector<SchemaError>* const kept = std::exchange(errors_, nullptr);
    const bool fits = Check(id, value, at, evaluated);
    errors_ = kept;
    return fits;
  }

  // The same, but evaluated members count only if the value fits.
  bool FitsAlone(Nodes::Id id, const Value& value, const Step* at, Evaluated* evaluated) {
    if (evaluated == nullptr) return Fits(id, value, at, nullptr);
    Evaluated own(value.size());
    if (!Fits(id, value, at, &own)) return false;
    for (size_t i = 0; i < own.size(); ++i) {
      if (own[i]) (*evaluated)[i] = true;
    }
    return true;
  }

  bool CheckAny(const Node& node, const Value& value, const Step* at) {
    if (node.types != 0 && (node.types & BitOf(node, value)) == 0) {
      return Wrong(node, at, "type", "expected {}, found {}", TypesText(node.types),
                   json::TypeName(value.type()));
    }
    if (node.has_choices) {
      bool found = false;
      for (const Value& choice : node.choices) found = found || Same(choice, value);
      if (!found)
        return Wrong(node, at, "enum", "is none of the {} allowed values", node.choices.size());
    }
    if (!node.constant.is_missing() && !Same(node.constant, value)) {
      return Wrong(node, at, "const", "expected {}", json::ToText(node.constant));
    }
    return true;
  }

  static uint8_t BitOf(const Node& node, const Value& value) {
    switch (value.type()) {
      case json::Type::kNull:
        return Nodes::kNull;
      case json::Type::kBool:
        return Nodes::kBoolean;
      case json::Type::kString:
        return Nodes::kString;
      case json::Type::kArray:
        return Nodes::kArray;
      case json::Type::kObject:
        return Nodes::kObject;
      default:
        break;
    }
    if (!value.is_number()) return 0;
    const bool integer = (node.types & Nodes::kInteger) != 0 && IsWhole(value);
    return static_cast<uint8_t>(Nodes::kNumber | (integer ? Nodes::kInteger : 0));
  }

  static std::string TypesText(uint8_t types) {
    constexpr std::string_view kNames[] = {"null",   "boolean", "integer", "number",
                                           "string", "array",   "object"};
    std::string out;
    for (size_t i = 0; i < std::size(kNames); ++i) {
      if ((types >> i & 1) == 0) continue;
      if (!out.empty()) out += " or ";
      out += kNames[i];
    }
    return out;
  }

  // A pattern takes as long as many steps, and the longer the text is.
  bool Matches(std::string_view text, const RE2& pattern) {
    steps_ += kStepsOfPattern + text.size() / kBytesOfStep;
    return RE2::PartialMatch({text.data(), text.size()}, pattern);
  }

  bool CheckString(const Node& node, const Value& value, const Step* at) {
    const std::string_view text = value.AsString();
    steps_ += text.size() / kBytesOfStep;
    bool ok = true;
    if (node.min_length || node.max_length) {
      const uint64_t length = Characters(text);
      if (node.min_length && length < *node.min_length) {
        ok = Wrong(node, at, "minLength", "has {} characters, expected at least {}", length,
                   *node.min_length);
      }
      if (node.max_length && length > *node.max_length) {
        ok = Wrong(node, at, "maxLength", "has {} characters, expected at most {}", length,
                   *node.max_length);
      }
    }
    if (node.pattern != nullptr && !Matches(text, *node.pattern)) {
      ok = Wrong(node, at, "pattern", "does not match '{}'", node.pattern->pattern());
    }
    if (node.format != Format::kNone && !HasFormat(node.format, text)) {
      ok = Wrong(node, at, "format", "is not in this format");
    }
    return ok;
  }

  bool CheckNumber(const Node& node, const Value& value, const Step* at) {
    bool ok = true;
    if (!node.minimum.is_missing() && json::Compare(value, node.minimum) < 0) {
      ok = Wrong(node, at, "minimum", "is less than {}", json::ToText(node.minimum));
    }
    if (!node.maximum.is_missing() && json::Compare(value, node.maximum) > 0) {
      ok = Wrong(node, at, "maximum", "is more than {}", json::ToText(node.maximum));
    }
    if (!node.above.is_missing() && json::Compare(value, node.above) <= 0) {
      ok = Wrong(node, at, "exclusiveMinimum", "is not above {}", json::ToText(node.above));
    }
    if (!node.below.is_missing() && json::Compare(value, node.below) >= 0) {
      ok = Wrong(node, at, "exclusiveMaximum", "is not below {}", json::ToText(node.below));
    }
    if (!node.multiple_of.is_missing() && !IsMultiple(value, node.multiple_of)) {
      ok = Wrong(node, at, "multipleOf", "is not a multiple of {}", json::ToText(node.multiple_of));
    }
    return ok;
  }

  bool CheckInPlace(const Node& node, const Value& value, const Step* at, Evaluated* seen) {
    bool ok = true;
    if (node.ref != kNone) ok &= Check(node.ref, value, at, seen);
    for (const Nodes::Id id : node.all_of) {
      if (Go(ok)) ok &= Check(id, value, at, seen);
    }
    if (Go(ok) && !node.any_of.empty()) {
      size_t fitting = 0;
      for (const Nodes::Id id : node.any_of) {
        if (fitting == 0 || seen != nullptr) fitting += FitsAlone(id, value, at, seen);
      }
      if (fitting == 0) {
        ok = Wrong(node, at, "anyOf", "fits none of the {} schemas", node.any_of.size());
      }
    }
    if (Go(ok) && !node.one_of.empty()) {
      size_t fitting = 0;
      for (const Nodes::Id id : node.one_of) fitting += FitsAlone(id, value, at, seen);
      if (fitting != 1) {
        ok = Wrong(node, at, "oneOf", "fits {} of the {} schemas, expected one", fitting,
                   node.one_of.size());
      }
    }
    if (Go(ok) && node.negated != kNone && Fits(node.negated, value, at, nullptr)) {
      ok = Wrong(node, at, "not", "fits a schema that it must not");
    }
    if (Go(ok) && node.condition != kNone) {
      const bool holds = FitsAlone(node.condition, value, at, seen);
      const Nodes::Id branch = holds ? node.then : node.otherwise;
      if (branch != kNone) ok &= Check(branch, value, at, seen);
    }
    return ok;
  }

  bool CheckObject(const Node& node, const Value& value, const Step* at, Evaluated* seen) {
    bool ok = true;
    for (const std::string& name : node.required) {
      if (value.Find(name) == nullptr) ok = Wrong(node, at, "required", "'{}' is missing", name);
    }
    if (node.min_properties && value.size() < *node.min_properties) {
      ok = Wrong(node, at, "minProperties", "has {} properties, expected at least {}", value.size(),
                 *node.min_properties);
    }
    if (node.max_properties && value.size() > *node.max_properties) {
      ok = Wrong(node, at, "maxProperties", "has {} properties, expected at most {}", value.size(),
                 *node.max_properties);
    }
    for (const auto& [name, needed] : node.dependent_required) {
      if (value.Find(name) == nullptr) continue;
      for (const std::string& other : needed) {
        if (value.Find(other) != nullptr) continue;
        ok = Wrong(node, at, "dependentRequired", "'{}' is missing, which '{}' needs", other, name);
      }
    }
    for (const auto& [name, id] : node.dependent_schemas) {
      if (Go(ok) && value.Find(name) != nullptr) ok &= Check(id, value, at, seen);
    }
    size_t index = 0;
    for (const json::Field& field : value.fields()) {
      if (!Go(ok)) return ok;
      const Step step{at, field.name()};
      const bool looked = CheckField(node, field, &step, &ok);
      if (seen != nullptr && looked) (*seen)[index] = true;
      if (seen != nullptr && node.unevaluated_properties != kNone && !(*seen)[index]) {
        ok &= Check(node.unevaluated_properties, field.value, &step, nullptr);
        (*seen)[index] = true;
      }
      ++index;
    }
    return ok;
  }

  // Whether a schema was found for the field.
  bool CheckField(const Node& node, const json::Field& field, const Step* at, bool* ok) {
    bool looked = false;
    if (node.property_names != kNone) *ok &= Check(node.property_names, field.key, at, nullptr);
    const auto property = node.properties.find(field.name());
    if (property != node.properties.end()) {
      looked = true;
      *ok &= Check(property->second, field.value, at, nullptr);
    }
    for (const auto& [pattern, id] : node.pattern_properties) {
      if (!Matches(field.name(), *pattern)) continue;
      looked = true;
      *ok &= Check(id, field.value, at, nullptr);
    }
    if (looked || node.additional == kNone) return looked;
    *ok &= Check(node.additional, field.value, at, nullptr);
    return true;
  }

  bool CheckArray(const Node& node, const Value& value, const Step* at, Evaluated* seen) {
    bool ok = true;
    if (node.min_items && value.size() < *node.min_items) {
      ok = Wrong(node, at, "minItems", "has {} elements, expected at least {}", value.size(),
                 *node.min_items);
    }
    if (node.max_items && value.size() > *node.max_items) {
      ok = Wrong(node, at, "maxItems", "has {} elements, expected at most {}", value.size(),
                 *node.max_items);
    }
    if (node.unique_items) steps_ += value.size();
    if (node.unique_items && !AllDifferent(value)) {
      ok = Wrong(node, at, "uniqueItems", "has equal elements");
    }
    uint64_t contained = 0;
    for (size_t i = 0; i < value.size() && Go(ok); ++i) {
      const Step step{at, {}, i, true};
      const Nodes::Id id = i < node.prefix_items.size() ? node.prefix_items[i] : node.items;
      if (id != kNone) {
        ok &= Check(id, value[i], &step, nullptr);
        if (seen != nullptr) (*seen)[i] = true;
      }
      if (node.contains != kNone && Fits(node.contains, value[i], &step, nullptr)) {
        ++contained;
        if (seen != nullptr) (*seen)[i] = true;
      }
    }
    if (node.contains != kNone && Go(ok)) ok &= CheckContained(node, contained, at);
    for (size_t i = 0; node.unevaluated_items != kNone && i < value.size() && Go(ok); ++i) {
      if ((*seen)[i]) continue;
      const Step step{at, {}, i, true};
      ok &= Check(node.unevaluated_items, value[i], &step, nullptr);
      (*seen)[i] = true;
    }
    return ok;
  }

  bool CheckContained(const Node& node, uint64_t contained, const Step* at) {
    if (contained < node.min_contains) {
      return Wrong(node, at, "contains", "has {} fitting elements, expected at least {}", contained,
                   node.min_contains);
    }
    if (node.max_contains && contained > *node.max_contains) {
      return Wrong(node, at, "maxContains", "has {} fitting elements, expected at most {}",
                   contained, *node.max_contains);
    }
    return true;
  }

  static bool AllDifferent(const Value& array) {
    std::vector<const Value*> sorted;
    for (const Value& item : array.items()) sorted.push_back(&item);
    const auto less = [](const Value* a, const Value* b) { return json::Compare(*a, *b) < 0; };
    std::sort(sorted.begin(), sorted.end(), less);
    for (size_t i = 1; i < sorted.size(); ++i) {
      if (Same(*sorted[i - 1], *sorted[i])) return false;
    }
    return true;
  }

  const Nodes& nodes_;
  std::vector<SchemaError>* errors_;
  uint64_t steps_ = 0;
};

std::vector<SchemaError> Schema::Validate(const Value& document) const {
  std::vector<SchemaError> errors;
  if (Validator(*nodes_, nullptr).CheckDocument(document)) return errors;
  Validator(*nodes_, &errors).CheckDocument(document);
  return errors;
}

Status Schema::Check(const Value& document) const {
  const std::vector<SchemaError> errors = Validate(document);
  if (errors.empty()) return OkStatus();
  Value list = Value::EmptyArray();
  for (const SchemaError& error : errors) {
    list.Append(Value::Object(
        {{"path", error.instance}, {"schema", error.schema}, {"message", error.message}}));
  }
  const SchemaError& first = errors.front();
  const std::string more =
      errors.size() == 1 ? "" : fmt::format(" (and {} more)", errors.size() - 1);
  return Error(Code::kInvalidArgument, "schema.violated", "{}: {}{}",
               first.instance.empty() ? "document" : first.instance, first.message, more)
      .With("violations", json::ToText(list));
}

}  // namespace sluice::doctype
