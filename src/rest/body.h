// Request bodies that are JSON objects. Every error says which field, what was expected and what
// was found; fields that a route does not know are refused, so that a misspelt one is noticed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "json/value.h"
#include "rest/http_types.h"

namespace sluice::rest {

// Of a body: {} when it is empty. Errors: json.invalid with line and column, http.bad_body.
Result<json::Value> ReadObject(std::string_view body,
                               std::initializer_list<std::string_view> known_fields);
Status CheckObject(const json::Value& value, std::string_view what,
                   std::initializer_list<std::string_view> known_fields);

// A field's value; nothing when it is not there, http.bad_body when it is of another type.
Result<std::optional<std::string>> StringField(const json::Value& object, std::string_view name);
Result<std::optional<int64_t>> IntField(const json::Value& object, std::string_view name);
Result<std::optional<bool>> BoolField(const json::Value& object, std::string_view name);
// The list; missing when it is not there.
Result<json::Value> ListField(const json::Value& object, std::string_view name);
// The same when it must be there.
Result<std::string> RequiredString(const json::Value& object, std::string_view name);

std::unexpected<Status> BadField(std::string_view name, std::string_view expected,
                                 const json::Value& found);

// A list of strings, for answers.
template <typename Strings>
json::Value StringList(const Strings& strings) {
  json::Value list = json::Value::EmptyArray();
  for (const auto& text : strings) list.Append(json::Value(std::string_view(text)));
  return list;
}

// The JSON text of a value with a line break, as answers have it.
std::string AnswerText(const json::Value& value);

}  // namespace sluice::rest
