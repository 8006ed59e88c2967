// Writes an object as text, field by field, without making a Value first: making a Value only to
// print it would cost more than the text. The caller must not write a name twice.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "json/print.h"

namespace sluice::json {

class ObjectWriter {
 public:
  // Appends to `out`; the object is whole after End.
  explicit ObjectWriter(std::string* out) : out_(out) { *out_ += '{'; }

  // Begins a field; the caller then appends its value. The name must not need escapes.
  std::string* Field(std::string_view name) {
    if (out_->back() != '{') *out_ += ',';
    out_->append("\"").append(name).append("\":");
    return out_;
  }
  void Text(std::string_view name, std::string_view text) { AppendQuoted(text, Field(name)); }
  void Flag(std::string_view name, bool flag) { *Field(name) += flag ? "true" : "false"; }
  void Int(std::string_view name, int64_t number) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    Field(name)->append(digits, static_cast<size_t>(end - digits));
  }
  void End() { *out_ += '}'; }

 private:
  std::string* const out_;
};

}  // namespace sluice::json
