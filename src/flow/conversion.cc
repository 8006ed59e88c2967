#include "flow/conversion.h"

#include <charconv>
#include <utility>

#include "base/base64.h"
#include "base/random.h"
#include "flow/text_form.h"

namespace sluice::flow {
namespace {

constexpr std::string_view kTypes =
    "text, binary, int, long, float, double, boolean, boolean(value), boolean(value=true), "
    "and(model.key), or(model.key), substring(start, end), b64, concat(...), uuid, length or !";

struct Named {
  std::string_view name;
  Conversion::Kind kind;
};
constexpr Named kPlain[] = {
    {"text", Conversion::Kind::kText},       {"binary", Conversion::Kind::kBinary},
    {"int", Conversion::Kind::kInt},         {"long", Conversion::Kind::kInt},
    {"float", Conversion::Kind::kDouble},    {"double", Conversion::Kind::kDouble},
    {"boolean", Conversion::Kind::kBoolean}, {"b64", Conversion::Kind::kBase64},
    {"uuid", Conversion::Kind::kUuid},       {"length", Conversion::Kind::kLength},
    {"!", Conversion::Kind::kNot},
};

std::unexpected<Status> BadType(std::string_view text, std::string_view why) {
  return Fail(Code::kInvalidArgument, "flow.bad_type", "invalid type '{}': {}", text, why);
}

std::vector<std::string_view> SplitCommas(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      parts.push_back(text.substr(start, i - start));
      start = i + 1;
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')') {
      --depth;
    }
  }
  return parts;
}

Status ParseMatch(std::string_view inside, Conversion* made) {
  made->kind = Conversion::Kind::kMatch;
  const size_t equals = inside.rfind('=');
  if (equals != inside.npos) {
    const std::string_view gives = Trim(inside.substr(equals + 1));
    if (!EqualsIgnoringCase(gives, "true") && !EqualsIgnoringCase(gives, "false")) {
      return BadType(made->text, "true or false must follow '='").error();
    }
    made->match_gives = EqualsIgnoringCase(gives, "true");
    inside = inside.substr(0, equals);
  }
  made->match = std::string(Trim(inside));
  if (made->match.empty()) return BadType(made->text, "a value to match is missing").error();
  return OkStatus();
}

Result<size_t> Position(std::string_view text, std::string_view whole) {
  size_t number = 0;
  text = Trim(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return BadType(whole, "positions are numbers from 0");
  }
  return number;
}

Status ParseSubstring(std::string_view inside, Conversion* made) {
  made->kind = Conversion::Kind::kSubstring;
  const auto parts = SplitCommas(inside);
  if (parts.size() > 2) return BadType(made->text, "substring has one or two positions").error();
  ASSIGN_OR_RETURN(made->start, Position(parts[0], made->text));
  if (parts.size() == 2) {
    ASSIGN_OR_RETURN(const size_t end, Position(parts[1], made->text));
    if (end <= made->start) return BadType(made->text, "the end must be after the start").error();
    made->end = end;
  }
  return OkStatus();
}

Status ParseOperands(std::string_view inside, Conversion* made) {
  for (const std::string_view part : SplitCommas(inside)) {
    const std::string_view trimmed = Trim(part);
    const bool text = trimmed.starts_with("text(") && trimmed.ends_with(")");
    if (text && made->kind == Conversion::Kind::kConcat) {
      made->operands.emplace_back(std::string(trimmed.substr(5, trimmed.size() - 6)));
      continue;
    }
    auto ref = ModelRef::Parse(trimmed);
    if (!ref) return BadType(made->text, ref.error().message()).error();
    made->operands.emplace_back(*std::move(ref));
  }
  if (made->kind != Conversion::Kind::kConcat && made->operands.size() != 1) {
    return BadType(made->text, "one model variable is expected").error();
  }
  return OkStatus();
}

std::string ConcatText(const Conversion& conversion, const json::Value& first,
                       const ModelView& view) {
  std::string out = first.is_missing() || first.is_null() ? "" : TextOf(first);
  for (const auto& operand : conversion.operands) {
    if (out.size() > kMaxValueBytes) break;  // too large for anybody
    if (const auto* text = std::get_if<std::string>(&operand)) {
      out += *text;
      continue;
    }
    const json::Value& value = std::get<ModelRef>(operand).Get(view);
    if (!value.is_missing() && !value.is_null()) out += TextOf(value);
  }
  return out;
}

bool OfNothing(Conversion::Kind kind) {  // whether a kind has an answer for null
  switch (kind) {
    case Conversion::Kind::kBoolean:
    case Conversion::Kind::kMatch:
    case Conversion::Kind::kAnd:
    case Conversion::Kind::kOr:
    case Conversion::Kind::kNot:
    case Conversion::Kind::kConcat:
    case Conversion::Kind::kUuid:
    case Conversion::Kind::kLength:
      return true;
    default:
      return false;
  }
}

}  // namespace

Result<Conversion> Conversion::Parse(std::string_view text) {
  Conversion made;
  made.text = std::string(Trim(text));
  const std::string_view whole = made.text;
  for (const Named& named : kPlain) {
    if (whole == named.name) {
      made.kind = named.kind;
      return made;
    }
  }
  const size_t open = whole.find('(');
  if (open == whole.npos) return BadType(whole, fmt::format("matching type must be {}", kTypes));
  if (whole.back() != ')') return BadType(whole, "missing close bracket");
  const std::string_view name = Trim(whole.substr(0, open));
  const std::string_view inside = whole.substr(open + 1, whole.size() - open - 2);
  if (name == "boolean") {
    RETURN_IF_ERROR(ParseMatch(inside, &made));
  } else if (name == "substring") {
    RETURN_IF_ERROR(ParseSubstring(inside, &made));
  } else if (name == "and" || name == "or" || name == "concat") {
    made.kind = name == "and" ? Kind::kAnd : name == "or" ? Kind::kOr : Kind::kConcat;
    RETURN_IF_ERROR(ParseOperands(inside, &made));
  } else {
    return BadType(whole, fmt::format("matching type must be {}", kTypes));
  }
  return made;
}

json::Value Conversion::Apply(const json::Value& value, const ModelView& view,
                              std::string_view name, std::vector<std::string>* complaints) const {
  const bool nothing = value.is_missing() || value.is_null();
  if (nothing && !OfNothing(kind)) return value;
  const auto complain = [&](std::string_view why) {
    complaints->push_back(fmt::format("Unable to do {} of LHS '{}' - {}", text, name, why));
    return value;
  };
  switch (kind) {
    case Kind::kText:
      return TextOf(value);
    case Kind::kBinary:
      return ToBytes(value);
    case Kind::kInt:
      return WholeNumberOf(value).value_or(-1);
    case Kind::kDouble:
      return NumberOf(value).value_or(-1);
    case Kind::kBoolean:
      return IsTrue(value);
    case Kind::kMatch:
      return (TextOf(value) == match) == match_gives;
    case Kind::kAnd:
      return IsTrue(value) && IsTrue(std::get<ModelRef>(operands[0]).Get(view));
    case Kind::kOr:
      return IsTrue(value) || IsTrue(std::get<ModelRef>(operands[0]).Get(view));
    case Kind::kNot:
      return !IsTrue(value);
    case Kind::kSubstring: {
      if (!value.is_string()) return complain("value is not a string");
      const auto part = Substring(value.AsString(), start, end);
      return part ? json::Value(*part) : complain("index out of bound");
    }
    case Kind::kBase64: {
      const auto made = Base64OrBack(value);
      return made ? *made : complain("invalid base64 text");
    }
    case Kind::kConcat:
      return ConcatText(*this, value, view);
    case Kind::kUuid:
      return NewUuid();
    case Kind::kLength:
      return LengthOf(value);
  }
  return value;
}

json::Value ToBytes(const json::Value& value) {
  return value.is_bytes() ? value : json::Value::Bytes(TextOf(value));
}

std::optional<json::Value> Base64OrBack(const json::Value& value) {
  if (value.is_bytes()) return json::Value(ToBase64(value.AsBytes()));
  if (!value.is_string()) return value;
  const auto bytes = FromBase64(value.AsString());
  if (!bytes) return std::nullopt;
  return json::Value::Bytes(*bytes);
}

std::optional<std::string> Substring(std::string_view text, size_t start,
                                     std::optional<size_t> end) {
  // Byte positions of characters: bytes that continue one are no start.
  size_t character = 0;
  size_t first = text.npos;
  size_t last = text.npos;
  for (size_t i = 0; i <= text.size(); ++i) {
    const bool starts = i == text.size() || (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (!starts) continue;
    if (character == start) first = i;
    if (end && character == *end) last = i;
    ++character;
  }
  if (!end) last = text.size();
  if (first == text.npos || last == text.npos || last <= first) return std::nullopt;
  return std::string(text.substr(first, last - first));
}

int64_t LengthOf(const json::Value& value) {
  if (value.is_missing() || value.is_null()) return 0;
  if (value.is_bytes()) return static_cast<int64_t>(value.AsBytes().size());
  if (value.is_array()) return static_cast<int64_t>(value.size());
  int64_t characters = 0;
  for (const char c : TextOf(value)) characters += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return characters;
}

bool IsTrue(const json::Value& value) {
  if (value.is_bool()) return value.AsBool();
  return value.is_string() && EqualsIgnoringCase(value.AsString(), "true");
}

}  // namespace sluice::flow
