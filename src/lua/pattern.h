// Matches Lua's patterns and counts the steps, so that a pattern that explodes can be ended like an
// endless loop. The matcher of Lua's own library can't be interrupted.
//
// The results are the same as those of the original. At most kMaxCaptures captures and kMaxNesting
// levels, as there.
//
// One thread; lives for one call of a function of the string library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::lua {

// Counts the steps of a running match. May throw, which ends the match.
class StepMeter {
 public:
  virtual ~StepMeter() = default;
  virtual void Spend(uint64_t steps) = 0;
};

class PatternMatcher {
 public:
  static constexpr size_t kMaxCaptures = 32;
  static constexpr int kMaxNesting = 200;
  static constexpr size_t kNone = static_cast<size_t>(-1);

  // The views outlive the matcher. The caller handles a leading ^: `pattern` does not have it.
  PatternMatcher(std::string_view subject, std::string_view pattern, StepMeter& meter)
      : subject_(subject), pattern_(pattern), meter_(meter) {}

  // The end of the match that begins at `start`, or kNone. Check error() after kNone.
  size_t MatchAt(size_t start);
  // Why the pattern is none, or null.
  const char* error() const { return error_; }

  // Of the last match.
  struct Capture {
    size_t start = 0;
    size_t length = 0;
    bool is_position = false;  // ()
  };
  size_t captures() const { return count_; }
  const Capture& capture(size_t index) const { return captures_[index]; }
  // False when a parenthesis was left open.
  bool Complete();

 private:
  static constexpr size_t kOpen = static_cast<size_t>(-1);
  static constexpr size_t kPosition = static_cast<size_t>(-2);
  static constexpr uint64_t kStepsAtOnce = 256;
  static constexpr size_t kBytesPerStep = 64;  // of a comparison

  size_t Fail(const char* why) {
    if (error_ == nullptr) error_ = why;
    return kNone;
  }
  void Step() {
    if (++steps_ % kStepsAtOnce == 0) meter_.Spend(kStepsAtOnce);
  }
  char PatternAt(size_t at) const { return at < pattern_.size() ? pattern_[at] : '\0'; }

  size_t Match(size_t s, size_t p);
  size_t MatchItems(size_t s, size_t p);
  bool MatchSpecial(size_t s, size_t p, size_t* result);
  size_t MatchRepeated(size_t s, size_t p, size_t item_end, bool* again, size_t* next);
  size_t MatchMost(size_t s, size_t p, size_t item_end);
  size_t MatchLeast(size_t s, size_t p, size_t item_end);
  size_t OpenCapture(size_t s, size_t p, size_t kind);
  size_t CloseCapture(size_t s, size_t p);
  size_t MatchBalance(size_t s, size_t p);
  size_t MatchFrontier(size_t s, size_t p);
  size_t MatchBack(size_t s, size_t p);
  size_t ItemEnd(size_t p);
  bool MatchesSingle(size_t s, size_t p, size_t item_end) const;
  bool MatchesSet(unsigned char c, size_t p, size_t last) const;

  struct Slot {
    size_t start = 0;
    size_t length = 0;  // or kOpen, kPosition
  };

  const std::string_view subject_;
  const std::string_view pattern_;
  StepMeter& meter_;
  uint64_t steps_ = 0;
  const char* error_ = nullptr;
  int nesting_ = 0;
  size_t count_ = 0;
  Slot slots_[kMaxCaptures];
  Capture captures_[kMaxCaptures];
};

// Whether a pattern is plain text: nothing in it has a meaning of its own.
bool IsPlainPattern(std::string_view pattern);

}  // namespace sluice::lua
