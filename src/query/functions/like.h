// LIKE patterns: % is any text, _ any one character, the escape character takes the next one as it
// is. The whole string has to match; lines mean nothing. No regular expression is involved: the
// pattern is cut at its %, and the pieces are looked for from left to right.
//
// A LikePattern is immutable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace sluice::query {

class FunctionContext;

class LikePattern {
 public:
  static constexpr char32_t kDefaultEscape = '\\';

  // Error query.evaluation when the pattern ends with the escape character.
  static Result<LikePattern> Parse(std::string_view pattern, char32_t escape = kDefaultEscape);

  bool Matches(FunctionContext& context, std::string_view text) const;

  // The prefix of every match.
  const std::string& prefix() const { return prefix_; }
  // There are no wildcards: the prefix is the only match.
  bool exact() const { return exact_; }

 private:
  // One character for each _, or a literal.
  struct Piece {
    std::string literal;
    size_t any = 0;
  };
  // The text between two %.
  struct Segment {
    std::vector<Piece> pieces;
    size_t runes = 0;
  };

  void AddLiteral(std::string_view bytes);
  void AddAny();
  // The end of a match of `segment` that starts at `at`; npos for no match.
  static size_t MatchAt(const Segment& segment, std::string_view text, size_t at);
  static size_t Find(FunctionContext& context, const Segment& segment, std::string_view text,
                     size_t at);

  std::vector<Segment> segments_{Segment{}};
  std::string prefix_;
  bool exact_ = true;
};

// The same for a pattern that is used once. Simple patterns (no escape, no _) cost nothing to read.
Result<bool> LikeMatches(FunctionContext& context, std::string_view text, std::string_view pattern,
                         char32_t escape = LikePattern::kDefaultEscape);

// The least value that collates after every string with this prefix: a string, or [] if there is no
// such string. `exact` means that the prefix itself is the only string.
json::Value StopOf(std::string_view prefix, bool exact);

}  // namespace sluice::query
