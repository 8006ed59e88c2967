// The tokens of a JSON text: the positions of its brackets, commas, colons and of the first
// character of each string, number and word, found by simdjson some gigabytes a second. Looking for
// a path jumps from token to token and never reads what it passes over.
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
  size_t Skip(size_t token) const;
  // The position after that value; `next` is what Skip returned for it.
  size_t EndOf(size_t token, size_t next) const;
  // What stands between the quotes of the string at `token`.
  std::string_view Inside(size_t token) const;

  static constexpr size_t kNoToken = static_cast<size_t>(-1);
  struct Memory;  // simdjson's, for one text at a time

 private:
  const std::string_view text_;
  std::unique_ptr<Memory> memory_;
  const uint32_t* positions_ = nullptr;
  size_t size_ = 0;
  bool ok_ = false;
};

}  // namespace sluice::json
