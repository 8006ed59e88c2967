// Type matching: the type after the colon in `model.count:int` or `model.flag:boolean(yes)`.
// Conversions are lenient, as in Event Script's guide: a text that is not a number becomes -1, and
// a value that a conversion can't take passes unchanged, with a complaint for the log.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "flow/path.h"
#include "json/value.h"

namespace sluice::flow {

struct Conversion {
  enum class Kind : uint8_t {
    kText,
    kBinary,
    kInt,
    kDouble,
    kBoolean,
    kMatch,  // boolean(value), boolean(value=true), boolean(value=false)
    kAnd,
    kOr,
    kSubstring,
    kBase64,
    kNot,
    kConcat,
    kUuid,
    kLength,
  };

  Kind kind = Kind::kText;
  std::string text;                                           // as written
  std::string match;                                          // kMatch
  bool match_gives = true;                                    // kMatch
  size_t start = 0;                                           // kSubstring
  std::optional<size_t> end;                                  // kSubstring
  std::vector<std::variant<ModelRef, std::string>> operands;  // kAnd, kOr, kConcat

  // Errors: flow.bad_type.
  static Result<Conversion> Parse(std::string_view text);
  // `name` is the variable's, for complaints, which are appended if there are any.
  json::Value Apply(const json::Value& value, const ModelView& view, std::string_view name,
                    std::vector<std::string>* complaints) const;
};

// The conversions that `f:` functions share; nothing when the value can't be converted.
json::Value ToBytes(const json::Value& value);
std::optional<json::Value> Base64OrBack(const json::Value& value);
// Characters from `start` to before `end`; nothing when out of range or empty.
std::optional<std::string> Substring(std::string_view text, size_t start,
                                     std::optional<size_t> end);
int64_t LengthOf(const json::Value& value);
// true, or text that reads so in any case.
bool IsTrue(const json::Value& value);

}  // namespace sluice::flow
