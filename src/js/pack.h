// Results that library/pack.js has written into two arrays.
//
// The first word is the number of words, itself included; 0 means no result. Then comes a value: a
// tag and its content. A number is a word; a text is a word with its length, its bytes follow those
// of the text before it; an array is its values, an object its names (as texts) and values, and
// kEnd.
//
// Thread: the runtime's, with the isolate locked.
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
  // Nullopt if nothing was packed. The arrays come from a script, so every word is checked.
  std::optional<json::Value> Value();

 private:
  std::array<double, 512> words_ = {};
  std::array<char, 8192> text_ = {};
  std::vector<json::Field> fields_;  // of objects that are being read; empty between calls
};

}  // namespace sluice::js
