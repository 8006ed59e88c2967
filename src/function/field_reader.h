// Reads the members of one JSON object of a definition. Every error names the field by its place in
// the definition, the expected value and the given one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace sluice::function {

inline Status InvalidField(const std::string& where, std::string_view expected,
                           const json::Value& got) {
  return Error(Code::kInvalidArgument, "function.invalid_definition", "{}: expected {}, got {}",
               where, expected, got.is_missing() ? "nothing" : json::TypeName(got.type()));
}

// Reads members of one object and keeps the first error.
class FieldReader {
 public:
  FieldReader(const json::Value& object, std::string where)
      : object_(object), where_(std::move(where)) {
    if (!object.is_object()) status_ = InvalidField(where_, "an object", object);
  }

  const Status& status() const { return status_; }
  const json::Value& Member(std::string_view name) const { return object_[name]; }
  std::string Where(std::string_view name) const {
    return where_.empty() ? std::string(name) : fmt::format("{}.{}", where_, name);
  }

  void Text(std::string_view name, std::string* to, bool needed = false) {
    const json::Value& value = Member(name);
    if (value.is_missing() && !needed) return;
    if (!value.is_string()) return Fail(InvalidField(Where(name), "a string", value));
    *to = value.AsString();
  }
  void Flag(std::string_view name, bool* to) {
    const json::Value& value = Member(name);
    if (value.is_missing()) return;
    if (!value.is_bool()) return Fail(InvalidField(Where(name), "true or false", value));
    *to = value.AsBool();
  }
  void Number(std::string_view name, uint32_t min, uint32_t max, uint32_t* to) {
    const json::Value& value = Member(name);
    if (value.is_missing()) return;
    const std::string expected = fmt::format("a whole number from {} to {}", min, max);
    if (!value.is_int()) return Fail(InvalidField(Where(name), expected, value));
    if (value.AsInt() < min || value.AsInt() > max) {
      return Fail(Error(Code::kInvalidArgument, "function.invalid_definition",
                        "{}: expected {}, got {}", Where(name), expected, value.AsInt()));
    }
    *to = static_cast<uint32_t>(value.AsInt());
  }
  // The largest number is the largest that fits into `to`.
  template <typename Integer>
  void Number(std::string_view name, uint64_t min, Integer* to) {
    const json::Value& value = Member(name);
    if (value.is_missing()) return;
    const std::string expected = fmt::format("a whole number from {}", min);
    if (!value.is_int()) return Fail(InvalidField(Where(name), expected, value));
    const int64_t most = static_cast<int64_t>(std::min<uint64_t>(
        std::numeric_limits<Integer>::max(), std::numeric_limits<int64_t>::max()));
    if (value.AsInt() < static_cast<int64_t>(min) || value.AsInt() > most) {
      return Fail(Error(Code::kInvalidArgument, "function.invalid_definition",
                        "{}: expected {}, got {}", Where(name), expected, value.AsInt()));
    }
    *to = static_cast<Integer>(value.AsInt());
  }
  void Decimal(std::string_view name, double min, double max, double* to) {
    const json::Value& value = Member(name);
    if (value.is_missing()) return;
    const std::string expected = fmt::format("a number from {} to {}", min, max);
    if (!value.is_number()) return Fail(InvalidField(Where(name), expected, value));
    const double number = value.ToDouble();
    if (!(number >= min && number <= max)) {
      return Fail(Error(Code::kInvalidArgument, "function.invalid_definition",
                        "{}: expected {}, got {}", Where(name), expected, number));
    }
    *to = number;
  }
  void Texts(std::string_view name, std::vector<std::string>* to) {
    const json::Value& value = Member(name);
    if (value.is_missing()) return;
    if (!value.is_array()) return Fail(InvalidField(Where(name), "an array of strings", value));
    to->clear();
    for (const json::Value& item : value.items()) {
      if (!item.is_string()) return Fail(InvalidField(Where(name), "an array of strings", item));
      to->emplace_back(item.AsString());
    }
  }
  void OneOf(std::string_view name, std::initializer_list<std::string_view> choices,
             std::string* to) {
    Text(name, to);
    if (!status_.ok() || std::ranges::find(choices, *to) != choices.end()) return;
    Fail(Error(Code::kInvalidArgument, "function.invalid_definition",
               "{}: expected one of {}, got '{}'", Where(name), fmt::join(choices, ", "), *to));
  }
  void Fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

 private:
  const json::Value& object_;
  const std::string where_;
  Status status_;
};

}  // namespace sluice::function
