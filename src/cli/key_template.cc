#include "cli/key_template.h"

#include <charconv>

#include "base/random.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

std::unexpected<Status> BadTemplate(std::string_view text, std::string_view problem) {
  return Fail(Code::kInvalidArgument, "import.bad_key_template", "key template '{}': {}", text,
              problem);
}

}  // namespace

Result<KeyTemplate::Part> KeyTemplate::ParseField(std::string_view name, std::string_view text) {
  Part part;
  part.kind = Part::Kind::kField;
  part.text = name;
  for (size_t from = 0; from <= name.size();) {
    const size_t dot = std::min(name.find('.', from), name.size());
    if (dot == from) return BadTemplate(text, fmt::format("'%{}%' has an empty name", name));
    part.names.emplace_back(name.substr(from, dot - from));
    from = dot + 1;
  }
  return part;
}

Result<KeyTemplate::Part> KeyTemplate::ParseGenerator(std::string_view name,
                                                      std::string_view text) {
  constexpr std::string_view kCounter = "MONO_INCR";
  Part part;
  if (name == "UUID") {
    part.kind = Part::Kind::kUuid;
    return part;
  }
  part.kind = Part::Kind::kCounter;
  if (name == kCounter) return part;
  if (name.starts_with("MONO_INCR[") && name.ends_with(']')) {
    const std::string_view digits = name.substr(10, name.size() - 11);
    const char* const end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, part.next);
    if (error == std::errc() && rest == end) return part;
  }
  return BadTemplate(text,
                     fmt::format("'#{}#' is not a generator; there are #UUID#, #MONO_INCR# and "
                                 "#MONO_INCR[100]#",
                                 name));
}

Result<KeyTemplate> KeyTemplate::Parse(std::string_view text) {
  KeyTemplate made;
  Part literal;
  for (size_t at = 0; at < text.size();) {
    const char mark = text[at];
    if (mark != '%' && mark != '#') {
      literal.text += text[at++];
      continue;
    }
    const size_t close = text.find(mark, at + 1);
    if (close == std::string_view::npos) {
      return BadTemplate(text, fmt::format("the '{}' at position {} has no partner; write '{}{}' "
                                           "for the character itself",
                                           mark, at + 1, mark, mark));
    }
    const std::string_view name = text.substr(at + 1, close - at - 1);
    at = close + 1;
    if (name.empty()) {
      literal.text += mark;
      continue;
    }
    if (!literal.text.empty()) made.parts_.push_back(std::exchange(literal, Part()));
    ASSIGN_OR_RETURN(Part part, mark == '%' ? ParseField(name, text) : ParseGenerator(name, text));
    made.parts_.push_back(std::move(part));
  }
  if (!literal.text.empty()) made.parts_.push_back(std::move(literal));
  if (made.parts_.empty()) return BadTemplate(text, "it is empty");
  return made;
}

Result<std::string> KeyTemplate::Make(const json::Value& document) {
  std::string key;
  for (Part& part : parts_) {
    switch (part.kind) {
      case Part::Kind::kText:
        key += part.text;
        break;
      case Part::Kind::kUuid:
        key += NewUuid();
        break;
      case Part::Kind::kCounter:
        key += std::to_string(part.next++);
        break;
      case Part::Kind::kField: {
        const json::Value* value = &document;
        for (const std::string& name : part.names) value = &(*value)[name];
        if (value->is_string()) {
          key += value->AsString();
        } else if (value->is_number() || value->is_bool()) {
          key += json::ToText(*value);
        } else {
          return Fail(Code::kInvalidArgument, "import.no_key",
                      "expected a string, number or boolean in field '{}' for the key, found {}",
                      part.text, json::TypeName(value->type()));
        }
        break;
      }
    }
  }
  return key;
}

}  // namespace sluice::cli
