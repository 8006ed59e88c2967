// REDACT(object, filter, ...): the object with its data covered, so that its shape can be shown.
//
// Of the filters, which name_pattern.h describes, the first whose pattern matches a field's name
// decides; without a filter all fields are covered. What a filter decides holds for everything in
// the field, too, unless another filter matches there. A filter may also say
//   name    true: the name is replaced, f0001 being the second field in the order of names
//   strict  true: covers punctuation, blanks and truth values, too
//   omit    true: the field is left out
//
// Letters become x, the digits of dates and numbers 1.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "json/number.h"
#include "query/functions/function.h"
#include "query/functions/name_pattern.h"
#include "query/functions/text.h"
#include "query/result_text.h"
#include "query/value_size.h"

namespace sluice::query {
namespace {

using json::Field;

struct Filter {
  NamePattern pattern;
  std::optional<bool> name;
  std::optional<bool> strict;
  bool omit = false;
};

// What holds for a field and what is inside.
struct Rule {
  bool value = false;
  bool name = false;
  bool strict = false;
  bool omit = false;
};

std::optional<bool> OptionalBool(const Value& value) {
  return value.is_bool() ? std::optional(value.AsBool()) : std::nullopt;
}

// Four digits and more, with what dates and times have between them: 2024-05-10T12:00:00Z.
bool LooksLikeDate(std::string_view text) {
  constexpr size_t kLongest = 30;
  const bool separated = text.size() > 5 && text.size() <= kLongest &&
                         ((text[4] == '-' && text.size() > 8) || (text[2] == ':'));
  return separated && text.find_first_not_of("0123456789-:.+TZ ") == std::string_view::npos;
}

std::string CoverText(std::string_view text, bool strict) {
  const char cover = !strict && LooksLikeDate(text) ? '1' : 'x';
  std::string covered;
  for (size_t at = 0; at < text.size();) {
    const Rune rune = RuneAt(text, at);
    const bool is_data = IsLetterRune(rune.code) || IsDigitRune(rune.code) || IsMarkRune(rune.code);
    if (strict || is_data) {
      covered += cover;
    } else {
      covered += text.substr(at, rune.size);
    }
    at += rune.size;
  }
  return covered;
}

Value CoverNumber(const Value& value) {
  std::string text = ResultText(value);
  if (text.starts_with('"')) return value;  // NaN and infinities say nothing
  for (char& c : text) {
    if (c >= '0' && c <= '9') c = '1';
  }
  return json::NumberFromLiteral(text);
}

class Redactor {
 public:
  explicit Redactor(std::vector<Filter> filters) : filters_(std::move(filters)) {}

  Value Cover(const Value& value, const std::string& base, const Rule& rule) const {
    if (value.is_object()) return CoverObject(value, base, rule);
    if (value.is_array()) {
      std::vector<Value> items;
      for (const Value& item : value.items()) items.push_back(Cover(item, base, rule));
      return Value::Array(std::move(items));
    }
    if (!rule.value) return value;
    if (value.is_string()) return CoverText(value.AsString(), rule.strict);
    if (value.is_number()) return CoverNumber(value);
    return value.is_bool() && rule.strict ? Value(false) : value;
  }

 private:
  Value CoverObject(const Value& object, const std::string& base, const Rule& outer) const {
    const auto sorted = json::SortedFields(object);
    std::vector<Field> fields;
    for (size_t i = 0; i < sorted.size(); ++i) {
      const Rule rule = RuleFor(sorted[i]->name(), outer);
      if (rule.omit) continue;
      std::string name(sorted[i]->name());
      if (rule.name) name = fmt::format("{}{}f{:04}", base, base.empty() ? "" : "_", i);
      fields.push_back({Value(name), Cover(sorted[i]->value, name, rule)});
    }
    return Value::ObjectOf(fields);
  }

  Rule RuleFor(std::string_view name, const Rule& outer) const {
    const auto filter = std::ranges::find_if(
        filters_, [&](const Filter& candidate) { return candidate.pattern.Matches(name); });
    if (filter == filters_.end()) return outer;
    return {true, filter->name.value_or(outer.name), filter->strict.value_or(outer.strict),
            filter->omit};
  }

  const std::vector<Filter> filters_;
};

Value Redact(FunctionContext& context, Args args) {
  if (!args[0]->is_object() || !context.Allow(ApproximateBytes(*args[0]))) return nullptr;
  std::vector<Filter> filters;
  for (const Value* options : args.subspan(1)) {
    if (!options->is_object()) return nullptr;
    Filter filter{{},
                  OptionalBool((*options)["name"]),
                  OptionalBool((*options)["strict"]),
                  OptionIs(*options, "omit", true)};
    if (!filter.pattern.Set(context, *options)) return nullptr;
    filters.push_back(filter);
  }
  if (filters.empty()) filters.emplace_back();
  return Redactor(std::move(filters)).Cover(*args[0], "", {});
}

constexpr ScalarFunction kRedactFunctions[] = {{"redact", 1, kAnyNumber, Redact}};

}  // namespace

FunctionFamily RedactFunctions() { return {kRedactFunctions, {}}; }

}  // namespace sluice::query
