// One pass of recursive descent over the text. Values need the literal of each number and errors
// need positions, which simdjson does not keep; checking alone is its job (Validate).
#include "json/parse.h"

#include <iterator>
#include <span>
#include <vector>

#include "json/number.h"
#include "json/simd.h"
#include "json/text.h"

namespace sluice::json {
namespace {

constexpr std::string_view kValueExpected = "a value";

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Value> Run() {
    Value value;
    if (!ParseValue(&value)) return Unexpected(std::move(error_));
    if (Peek() != kEnd) return Unexpected(InvalidAt(text_, at_, "the end of the text"));
    return value;
  }

 private:
  static constexpr int kEnd = -1;

  // The next character that is not white space.
  int Peek() {
    at_ = SkipSpace(text_, at_);
    return at_ < text_.size() ? static_cast<unsigned char>(text_[at_]) : kEnd;
  }

  bool Fail(std::string_view expected) {
    error_ = InvalidAt(text_, at_, expected);
    return false;
  }

  bool ParseValue(Value* out) {
    switch (Peek()) {
      case '{':
        return ParseObject(out);
      case '[':
        return ParseArray(out);
      case '"':
        return ParseString(out);
      case 't':
        return ParseWord("true", Value(true), out);
      case 'f':
        return ParseWord("false", Value(false), out);
      case 'n':
        return ParseWord("null", Value(nullptr), out);
      default:
        return ParseNumber(out);
    }
  }

  bool ParseWord(std::string_view word, Value value, Value* out) {
    if (text_.substr(at_, word.size()) != word) return Fail(kValueExpected);
    at_ += word.size();
    *out = std::move(value);
    return true;
  }

  bool ParseNumber(Value* out) {
    const std::string_view rest = text_.substr(at_);
    if (rest.empty() || (rest[0] != '-' && (rest[0] < '0' || rest[0] > '9'))) {
      return Fail(kValueExpected);
    }
    const size_t length = NumberLength(rest);
    if (length == 0) return Fail("a number such as 12, -0.5 or 1e9");
    *out = NumberFromLiteral(rest.substr(0, length));
    at_ += length;
    return true;
  }

  // Reads a string into text_ itself or into scratch_; `out` is good until the next one.
  bool ReadString(std::string_view* out) {
    const size_t start = at_ + 1;
    size_t end = start + PlainPrefix(text_.substr(start));
    if (end < text_.size() && text_[end] == '"') {
      *out = text_.substr(start, end - start);
      at_ = end + 1;
      return true;
    }
    while (end < text_.size() && text_[end] == '\\') {
      end = std::min(end + 2, text_.size());
      end += PlainPrefix(text_.substr(end));
    }
    if (end >= text_.size() || text_[end] != '"') {
      at_ = end;
      return Fail("a character of a string or its closing quote");
    }
    scratch_.clear();
    const size_t malformed = Unescape(text_.substr(start, end - start), &scratch_);
    if (malformed != kNoPosition) {
      at_ = start + malformed + 1;
      return Fail("one of \" \\ / b f n r t or u and four hex digits after a backslash");
    }
    *out = scratch_;
    at_ = end + 1;
    return true;
  }

  bool ParseString(Value* out) {
    std::string_view text;
    if (!ReadString(&text)) return false;
    *out = Value(text);
    return true;
  }

  bool Enter() {
    if (++depth_ > kMaxDepth) {
      error_ = TooDeep();
      return false;
    }
    ++at_;
    return true;
  }

  void Leave() {
    --depth_;
    ++at_;
  }

  Status TooDeep() const {
    const Place place = InvalidAt(text_, at_, "").place();
    return Error(Code::kInvalidArgument, "json.too_deep",
                 "arrays and objects are nested more than {} levels deep", kMaxDepth)
        .At(place);
  }

  // Members of all open containers lie on one stack each, so that a container is allocated once
  // and in its size.
  bool ParseArray(Value* out) {
    if (!Enter()) return false;
    const size_t base = items_.size();
    if (Peek() != ']') {
      while (true) {
        Value item;
        if (!ParseValue(&item)) return false;
        items_.push_back(std::move(item));
        const int next = Peek();
        if (next == ']') break;
        if (next != ',') return Fail("',' or ']'");
        ++at_;
      }
    }
    Leave();
    const auto first = items_.begin() + static_cast<ptrdiff_t>(base);
    *out = Value::Array({std::make_move_iterator(first), std::make_move_iterator(items_.end())});
    items_.resize(base);
    return true;
  }

  bool ParseObject(Value* out) {
    if (!Enter()) return false;
    const size_t base = fields_.size();
    if (Peek() != '}') {
      while (true) {
        if (!ParseField()) return false;
        const int next = Peek();
        if (next == '}') break;
        if (next != ',') return Fail("',' or '}'");
        ++at_;
      }
    }
    Leave();
    *out = Value::ObjectOf(std::span(fields_).subspan(base));
    fields_.resize(base);
    return true;
  }

  bool ParseField() {
    if (Peek() != '"') return Fail("a field name in quotes");
    Field field;
    if (!ParseString(&field.key)) return false;
    if (Peek() != ':') return Fail("':' after the field name");
    ++at_;
    if (!ParseValue(&field.value)) return false;
    fields_.push_back(std::move(field));
    return true;
  }

  const std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  std::string scratch_;
  std::vector<Value> items_;
  std::vector<Field> fields_;
  Status error_;
};

Status CheckSize(std::string_view text, const ParseOptions& options) {
  if (text.size() <= options.max_bytes) return OkStatus();
  return Error(Code::kTooLarge, "json.too_large", "{} bytes of JSON, at most {} are taken",
               text.size(), options.max_bytes);
}

}  // namespace

Result<Value> Parse(std::string_view text, const ParseOptions& options) {
  RETURN_IF_ERROR(CheckSize(text, options));
  if (!IsUtf8(text)) return Unexpected(InvalidAt(text, ValidUtf8Prefix(text), "UTF-8"));
  return Parser(text).Run();
}

Status Validate(std::string_view text, const ParseOptions& options) {
  RETURN_IF_ERROR(CheckSize(text, options));
  if (SimdAccepts(text)) return OkStatus();
  const Result<Value> exact = Parse(text, options);
  return exact ? OkStatus() : exact.error();
}

}  // namespace sluice::json
