// The tokens of a JSON text: the positions of its brackets, commas, colons and of the first
// character of each string, number and word, found by simdjson some gigabytes a second. A search
// for a path jumps from token to token and never reads the text between them.
//
// The text is borrowed and not copied. One thread; the memory is kept per thread and used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace sluice::json {

class TextIndex {
 public:
  explicit TextIndex(std::string_view text);
  ~TextIndex();
  TextIndex(const TextIndex&) = delete;
  TextIndex& operator=(const TextIndex&) = delete;

  // False if the text has no tokens, is not UTF-8 or has a string that does not end: not JSON. True
  // does not mean that it is.
  bool ok() const { return ok_; }
  std::string_view text() const { return text_; }
  size_t size() const { return size_; }

  // Where a token is and its first character; after the last one, the end of the text and NUL.
  size_t Position(size_t token) const { return token < size_ ? positions_[token] : text_.size(); }
  char At(size_t token) const { return token < size_ ? text_[positions_[token]] : '\0'; }

  // The token after the value that starts with `token`; kNoToken if its brackets do not close.
  size_t Skip(size_t token) const {
    const char folded = At(token) | 0x20;  // '[' and ']' to '{' and '}'
    const bool one_token = token < size_ && folded != '{' && folded != '}';
    return one_token ? token + 1 : SkipBrackets(token);
  }
  // The position after that value; `next` is the result of Skip for it.
  size_t EndOf(size_t token, size_t next) const;
  // The text between the quotes of the string at `token`. Only white space can be between its last
  // quote and the next token, so that quote is found from behind without reading the string.
  std::string_view Inside(size_t token) const {
    const size_t start = Position(token) + 1;
    size_t end = Position(token + 1);
    while (end > start && text_[end - 1] != '"') --end;
    return end > start ? text_.substr(start, end - 1 - start) : std::string_view();
  }

  static constexpr size_t kNoToken = static_cast<size_t>(-1);
  struct Memory;  // simdjson's, for one text at a time

 private:
  size_t SkipBrackets(size_t token) const;

  const std::string_view text_;
  std::unique_ptr<Memory> memory_;
  const uint32_t* positions_ = nullptr;
  size_t size_ = 0;
  bool ok_ = false;
};

}  // namespace sluice::json
