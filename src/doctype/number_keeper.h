// JavaScript knows doubles only: 9007199254740993 comes back as ...992 and 1.50 as 1.5. This class
// gives numbers that a script did not change their exact value and literal back. It finds them at
// their old path; numbers that a double can't represent exactly are also found after a move.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "json/value.h"

namespace sluice::doctype {

class NumberKeeper {
 public:
  // Whether a document has a number that JavaScript may print in another way.
  static bool Needed(std::string_view document);
  // `before` outlives it.
  explicit NumberKeeper(const json::Value& before);

  json::Value Restore(const json::Value& after) const { return Restore(before_, after); }

 private:
  void Collect(const json::Value& value);
  json::Value Restore(const json::Value& before, const json::Value& after) const;

  const json::Value& before_;
  // Integers beyond 2^53 by their double; missing where two share one.
  std::unordered_map<double, json::Value> large_;
};

}  // namespace sluice::doctype
