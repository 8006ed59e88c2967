#include "doctype/advice/drafts.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "doctype/field_path.h"
#include "json/print.h"

namespace sluice::doctype {
namespace {

constexpr std::string_view kElements = "[]";

// Accesses a field of an object that exists, or of one that may be missing.
std::string Field(std::string_view object, std::string_view name) {
  return IsIdentifier(name) ? fmt::format("{}.{}", object, name)
                            : fmt::format("{}[{}]", object, Quoted(name));
}
std::string MaybeField(std::string_view object, std::string_view name) {
  return IsIdentifier(name) ? fmt::format("{}?.{}", object, name)
                            : fmt::format("{}?.[{}]", object, Quoted(name));
}

// Makes the code for a field of the object in an expression.
using Body = std::function<std::string(const std::string& object, const std::string& name)>;

std::string ForEachParent(std::string_view path, const Body& body) {
  const auto parsed = FieldPath::Parse(path);
  if (!parsed) return "";
  std::string object = "doc";
  std::string loops;
  const auto& segments = parsed->segments();
  for (size_t i = 0; i < segments.size(); ++i) {
    const bool last = i + 1 == segments.size();
    const size_t names = segments[i].size() - (last ? 1 : 0);
    for (size_t j = 0; j < names; ++j) object = MaybeField(object, segments[i][j]);
    if (last) break;
    const std::string element = fmt::format("e{}", i);
    loops += fmt::format("for (const {} of {} ?? []) ", element, object);
    object = element;
  }
  return loops + body(object, parsed->name());
}

// "lines" and "vat" to "linesVat".
std::string Beside(std::string_view array, std::string_view name) {
  std::string out = fmt::format("{}{}", array, name);
  char& first = out[array.size()];
  if (first >= 'a' && first <= 'z') first = static_cast<char>(first - 'a' + 'A');
  return out;
}

}  // namespace

bool IsIdentifier(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
  };
  return !name.empty() && letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

std::string Quoted(std::string_view text) {
  std::string out;
  json::AppendQuoted(text, &out);
  return out;
}

std::string DraftDropEmpty(std::string_view path) {
  const std::string code = ForEachParent(path, [](const auto& object, const auto& name) {
    return fmt::format("if (isEmpty({})) delete {};", MaybeField(object, name),
                       Field(object, name));
  });
  if (code.empty()) return "";
  return "{ const isEmpty = (v) => v === null || v === '' || "
         "(typeof v === 'object' && Object.keys(v).length === 0); " +
         code + " }";
}

std::string DraftDropValue(std::string_view path, const json::Value& value) {
  return ForEachParent(path, [&](const auto& object, const auto& name) {
    return fmt::format("if ({} === {}) delete {};", MaybeField(object, name), json::ToText(value),
                       Field(object, name));
  });
}

std::string DraftHoist(std::string_view path) {
  const size_t elements = path.rfind(kElements);
  const auto parsed = FieldPath::Parse(path);
  if (!parsed || elements == std::string_view::npos || parsed->segments().back().size() != 1) {
    return "";
  }
  const std::string& field = parsed->name();
  return ForEachParent(path.substr(0, elements), [&](const auto& object, const auto& name) {
    return fmt::format(
        "{{ const list = {}; if (list?.length > 1 && list.every((e) => {} === {})) {{ {} = {}; "
        "for (const e of list) delete {}; }} }}",
        MaybeField(object, name), Field("e", field), Field("list[0]", field),
        Field(object, Beside(name, field)), Field("list[0]", field), Field("e", field));
  });
}

std::string DraftMapElements(std::string_view path, std::string_view expression) {
  if (!path.ends_with(kElements)) return "";
  path.remove_suffix(kElements.size());
  return ForEachParent(path, [&](const auto& object, const auto& name) {
    return fmt::format("if (Array.isArray({})) {} = {}.map((v) => {});", MaybeField(object, name),
                       Field(object, name), Field(object, name), expression);
  });
}

std::string DraftWrap(std::string_view path) {
  return ForEachParent(path, [](const auto& object, const auto& name) {
    const std::string field = MaybeField(object, name);
    return fmt::format("if ({} !== undefined && !Array.isArray({})) {} = [{}];", field, field,
                       Field(object, name), Field(object, name));
  });
}

}  // namespace sluice::doctype
