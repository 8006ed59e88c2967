// Results that library/pack.js has written into two arrays.
//
// The first word is how many there are; 0: no result. Then a value: a tag and what belongs to
// it. A number is a word; a text is a word with its length, its bytes follow those of the text
// before it; an array is its values, an object its names (as texts) and values, and kEnd.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "json/value.h"

namespace sluice::js {

class PackedResult {
 public:
  // For the script.
  std::span<double> words() { return words_; }
  std::span<char> text() { return text_; }

  void Clear() { words_[0] = 0; }
  // None when nothing was packed. What a script wrote is not trusted.
  std::optional<json::Value> Value();

 private:
  std::array<double, 512> words_ = {};
  std::array<char, 8192> text_ = {};
  std::vector<json::Field> fields_;  // of objects that are being read; empty between calls
};

}  // namespace sluice::js
