#include "js/pack.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

namespace sluice::js {
namespace {

using json::Value;

// As in library/pack.js.
constexpr int kEnd = -1;
constexpr int kNull = 0;
constexpr int kFalse = 1;
constexpr int kTrue = 2;
constexpr int kNumber = 3;
constexpr int kString = 4;
constexpr int kArray = 5;
constexpr int kObject = 6;
constexpr int kUndefined = 7;

constexpr double kMaxSafeInteger = 9007199254740991;
constexpr int kMaxPackedDepth = 32;

class Unpacker {
 public:
  Unpacker(std::span<const double> words, std::string_view text, std::vector<json::Field>* fields)
      : words_(words), text_(text), fields_(*fields) {}

  bool Read(Value* value, int depth = 0) {
    if (depth > kMaxPackedDepth) return false;
    switch (Tagged()) {
      case kNull:
        *value = nullptr;
        return true;
      case kFalse:
      case kTrue:
        *value = words_[next_ - 1] == kTrue;
        return true;
      case kNumber:
        return ReadNumber(value);
      case kString: {
        std::string_view text;
        if (!ReadText(&text)) return false;
        *value = Value(text);
        return true;
      }
      case kArray:
        return ReadItems(value, depth);
      case kObject:
        return ReadFields(value, depth);
      case kUndefined:
        *value = Value();
        return true;
      default:
        return false;
    }
  }

 private:
  bool more() const { return next_ < words_.size(); }
  bool AtEnd() {
    if (!more() || words_[next_] != kEnd) return false;
    ++next_;
    return true;
  }

  int Tagged() {
    if (!more() || !(words_[next_] >= kNull && words_[next_] <= kUndefined)) return kEnd;
    return static_cast<int>(words_[next_++]);
  }

  bool ReadNumber(Value* value) {
    if (!more()) return false;
    const double number = words_[next_++];
    if (!std::isfinite(number)) return false;
    const bool is_int = std::abs(number) <= kMaxSafeInteger && number == std::trunc(number);
    *value = is_int ? Value(static_cast<int64_t>(number)) : Value(number);
    return true;
  }

  bool ReadText(std::string_view* text) {
    if (!more() || !(words_[next_] >= 0 && words_[next_] <= static_cast<double>(text_.size()))) {
      return false;
    }
    const auto size = static_cast<size_t>(words_[next_++]);
    *text = text_.substr(0, size);
    text_.remove_prefix(size);
    return std::ranges::all_of(*text, [](char byte) { return static_cast<uint8_t>(byte) < 0x80; });
  }

  bool ReadItems(Value* value, int depth) {
    std::vector<Value> items;
    while (!AtEnd()) {
      if (!Read(&items.emplace_back(), depth + 1)) return false;
    }
    *value = Value::Array(std::move(items));
    return true;
  }

  bool ReadFields(Value* value, int depth) {
    const size_t first = fields_.size();
    while (!AtEnd()) {
      std::string_view name;
      Value field;
      if (!ReadText(&name) || !Read(&field, depth + 1)) return false;
      fields_.push_back({Value(name), std::move(field)});
    }
    *value = Value::ObjectOf(std::span(fields_).subspan(first));
    fields_.resize(first);
    return true;
  }

  const std::span<const double> words_;
  std::string_view text_;  // the text that is not read yet
  std::vector<json::Field>& fields_;
  size_t next_ = 0;
};

}  // namespace

std::optional<json::Value> PackedResult::Value() {
  const double size = words_[0];
  if (!(size > 1 && size <= static_cast<double>(words_.size()))) return std::nullopt;
  Unpacker unpacker(words().subspan(1, static_cast<size_t>(size) - 1), {text_.data(), text_.size()},
                    &fields_);
  json::Value value;
  const bool read = unpacker.Read(&value);
  fields_.clear();
  if (!read) return std::nullopt;
  return value;
}

}  // namespace sluice::js
