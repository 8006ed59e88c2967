#include "rest/body.h"

#include <algorithm>
#include <utility>

#include "json/parse.h"
#include "json/print.h"

namespace sluice::rest {
namespace {

constexpr size_t kMaxShown = 60;

std::string Shown(const json::Value& value) {
  if (value.is_missing()) return "nothing";
  std::string text = json::ToText(value);
  if (text.size() <= kMaxShown) return text;
  size_t cut = kMaxShown;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80) --cut;
  return text.substr(0, cut) + "...";
}

}  // namespace

std::unexpected<Status> BadField(std::string_view name, std::string_view expected,
                                 const json::Value& found) {
  return Unexpected(Error(Code::kInvalidArgument, "http.bad_body",
                          "field '{}': expected {}, found {}", name, expected, Shown(found))
                        .With("field", std::string(name)));
}

Status CheckObject(const json::Value& value, std::string_view what,
                   std::initializer_list<std::string_view> known_fields) {
  if (!value.is_object()) {
    return Error(Code::kInvalidArgument, "http.bad_body", "{} must be a JSON object, found {}",
                 what, Shown(value));
  }
  for (const json::Field& field : value.fields()) {
    if (std::find(known_fields.begin(), known_fields.end(), field.name()) != known_fields.end()) {
      continue;
    }
    std::string known;
    for (const std::string_view name : known_fields) {
      if (!known.empty()) known += ", ";
      known += name;
    }
    return Error(Code::kInvalidArgument, "http.bad_body", "{} has no field '{}'; it has {}", what,
                 field.name(), known.empty() ? "none" : known)
        .With("field", std::string(field.name()));
  }
  return OkStatus();
}

Result<json::Value> ReadObject(std::string_view body,
                               std::initializer_list<std::string_view> known_fields) {
  if (body.empty()) return json::Value::EmptyObject();
  ASSIGN_OR_RETURN(json::Value value, json::Parse(body, {.max_bytes = body.size()}));
  RETURN_IF_ERROR(CheckObject(value, "the body", known_fields));
  return value;
}

Result<std::optional<std::string>> StringField(const json::Value& object, std::string_view name) {
  const json::Value& value = object[name];
  if (value.is_missing()) return std::nullopt;
  if (!value.is_string()) return BadField(name, "a string", value);
  return std::string(value.AsString());
}

Result<std::optional<int64_t>> IntField(const json::Value& object, std::string_view name) {
  const json::Value& value = object[name];
  if (value.is_missing()) return std::nullopt;
  if (!value.is_int()) return BadField(name, "an integer of 64 bits", value);
  return value.AsInt();
}

Result<std::optional<bool>> BoolField(const json::Value& object, std::string_view name) {
  const json::Value& value = object[name];
  if (value.is_missing()) return std::nullopt;
  if (!value.is_bool()) return BadField(name, "true or false", value);
  return value.AsBool();
}

Result<json::Value> ListField(const json::Value& object, std::string_view name) {
  const json::Value& value = object[name];
  if (!value.is_missing() && !value.is_array()) return BadField(name, "a list", value);
  return value;
}

Result<std::string> RequiredString(const json::Value& object, std::string_view name) {
  ASSIGN_OR_RETURN(std::optional<std::string> text, StringField(object, name));
  if (!text) return BadField(name, "a string", json::Value());
  return std::move(*text);
}

std::string AnswerText(const json::Value& value) {
  std::string text = json::ToText(value);
  text += '\n';
  return text;
}

}  // namespace sluice::rest
