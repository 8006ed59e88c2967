#include "lua/pattern.h"

#include <cctype>
#include <cstring>

namespace sluice::lua {
namespace {

bool InClass(unsigned char c, char name) {
  const char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(name)));
  bool is = false;
  switch (lower) {
    case 'a':
      is = std::isalpha(c) != 0;
      break;
    case 'c':
      is = std::iscntrl(c) != 0;
      break;
    case 'd':
      is = std::isdigit(c) != 0;
      break;
    case 'g':
      is = std::isgraph(c) != 0;
      break;
    case 'l':
      is = std::islower(c) != 0;
      break;
    case 'p':
      is = std::ispunct(c) != 0;
      break;
    case 's':
      is = std::isspace(c) != 0;
      break;
    case 'u':
      is = std::isupper(c) != 0;
      break;
    case 'w':
      is = std::isalnum(c) != 0;
      break;
    case 'x':
      is = std::isxdigit(c) != 0;
      break;
    default:
      return static_cast<unsigned char>(name) == c;
  }
  return std::isupper(static_cast<unsigned char>(name)) ? !is : is;
}

}  // namespace

bool IsPlainPattern(std::string_view pattern) {
  return pattern.find_first_of("^$*+?.([%-") == std::string_view::npos;
}

size_t PatternMatcher::MatchAt(size_t start) {
  count_ = 0;
  nesting_ = 0;
  Step();
  return Match(start, 0);
}

bool PatternMatcher::Complete() {
  for (size_t i = 0; i < count_; ++i) {
    const Slot& slot = slots_[i];
    if (slot.length == kOpen) {
      Fail("unfinished capture");
      return false;
    }
    const bool position = slot.length == kPosition;
    captures_[i] = {
        .start = slot.start, .length = position ? 0 : slot.length, .is_position = position};
  }
  return true;
}

size_t PatternMatcher::Match(size_t s, size_t p) {
  if (++nesting_ > kMaxNesting) return Fail("pattern too complex");
  const size_t end = MatchItems(s, p);
  --nesting_;
  return end;
}

// Items without backtracking are matched in this loop; all others in a call of their own.
size_t PatternMatcher::MatchItems(size_t s, size_t p) {
  while (error_ == nullptr) {
    Step();
    if (p == pattern_.size()) return s;
    size_t result = kNone;
    if (MatchSpecial(s, p, &result)) return result;
    const size_t item_end = ItemEnd(p);
    if (item_end == kNone) return kNone;
    bool again = false;
    result = MatchRepeated(s, p, item_end, &again, &p);
    if (!again) return result;
    s = result;
  }
  return kNone;
}

// ( ) $ %b %f %1: true if the item is one of them; the rest is then matched inside.
bool PatternMatcher::MatchSpecial(size_t s, size_t p, size_t* result) {
  const char next = PatternAt(p + 1);
  switch (pattern_[p]) {
    case '(':
      *result = p + 1 < pattern_.size() && next == ')' ? OpenCapture(s, p + 2, kPosition)
                                                       : OpenCapture(s, p + 1, kOpen);
      return true;
    case ')':
      *result = CloseCapture(s, p + 1);
      return true;
    case '$':
      if (p + 1 != pattern_.size()) return false;
      *result = s == subject_.size() ? s : kNone;
      return true;
    case '%':
      if (p + 1 >= pattern_.size()) return false;
      if (next == 'b') {
        *result = MatchBalance(s, p + 2);
        return true;
      }
      if (next == 'f') {
        *result = MatchFrontier(s, p + 2);
        return true;
      }
      if (next >= '0' && next <= '9') {
        *result = MatchBack(s, p);
        return true;
      }
      return false;
    default:
      return false;
  }
}

// One item with what follows it (* + - ?). With `again`, the result is the position to continue at,
// and *next the rest of the pattern.
size_t PatternMatcher::MatchRepeated(size_t s, size_t p, size_t item_end, bool* again,
                                     size_t* next) {
  const bool here = s < subject_.size() && MatchesSingle(s, p, item_end);
  switch (PatternAt(item_end)) {
    case '?': {
      if (here) {
        const size_t end = Match(s + 1, item_end + 1);
        if (end != kNone || error_ != nullptr) return end;
      }
      *again = true;
      *next = item_end + 1;
      return s;
    }
    case '+':
      return here ? MatchMost(s + 1, p, item_end) : kNone;
    case '*':
      return MatchMost(s, p, item_end);
    case '-':
      return MatchLeast(s, p, item_end);
    default:
      if (!here) return kNone;
      *again = true;
      *next = item_end;
      return s + 1;
  }
}

size_t PatternMatcher::MatchMost(size_t s, size_t p, size_t item_end) {
  size_t many = 0;
  while (s + many < subject_.size() && MatchesSingle(s + many, p, item_end)) {
    ++many;
    Step();
  }
  while (true) {
    const size_t end = Match(s + many, item_end + 1);
    if (end != kNone || error_ != nullptr || many == 0) return end;
    --many;
  }
}

size_t PatternMatcher::MatchLeast(size_t s, size_t p, size_t item_end) {
  while (true) {
    const size_t end = Match(s, item_end + 1);
    if (end != kNone || error_ != nullptr) return end;
    if (s >= subject_.size() || !MatchesSingle(s, p, item_end)) return kNone;
    ++s;
  }
}

size_t PatternMatcher::OpenCapture(size_t s, size_t p, size_t kind) {
  if (count_ >= kMaxCaptures) return Fail("too many captures");
  slots_[count_++] = {.start = s, .length = kind};
  const size_t end = Match(s, p);
  if (end == kNone) --count_;
  return end;
}

size_t PatternMatcher::CloseCapture(size_t s, size_t p) {
  for (size_t i = count_; i-- > 0;) {
    if (slots_[i].length != kOpen) continue;
    slots_[i].length = s - slots_[i].start;
    const size_t end = Match(s, p);
    if (end == kNone) slots_[i].length = kOpen;
    return end;
  }
  return Fail("invalid pattern capture");
}

size_t PatternMatcher::MatchBalance(size_t s, size_t p) {
  if (p + 1 >= pattern_.size()) return Fail("malformed pattern (missing arguments to '%b')");
  if (s >= subject_.size() || subject_[s] != pattern_[p]) return kNone;
  const char open = pattern_[p];
  const char close = pattern_[p + 1];
  size_t depth = 1;
  for (size_t at = s + 1; at < subject_.size(); ++at) {
    Step();
    if (subject_[at] == close) {
      if (--depth == 0) return Match(at + 1, p + 2);
    } else if (subject_[at] == open) {
      ++depth;
    }
  }
  return kNone;
}

size_t PatternMatcher::MatchFrontier(size_t s, size_t p) {
  if (PatternAt(p) != '[') return Fail("missing '[' after '%f' in pattern");
  const size_t end = ItemEnd(p);
  if (end == kNone) return kNone;
  const auto at = [&](size_t i) {
    return i < subject_.size() ? static_cast<unsigned char>(subject_[i]) : '\0';
  };
  const unsigned char before = s == 0 ? '\0' : at(s - 1);
  if (MatchesSet(before, p, end - 1) || !MatchesSet(at(s), p, end - 1)) return kNone;
  return Match(s, end);
}

size_t PatternMatcher::MatchBack(size_t s, size_t p) {
  const size_t index = static_cast<size_t>(pattern_[p + 1] - '1');
  if (index >= count_ || slots_[index].length == kOpen) return Fail("invalid capture index");
  const size_t length = slots_[index].length == kPosition ? 0 : slots_[index].length;
  if (subject_.size() - s < length) return kNone;
  if (length >= kBytesPerStep) meter_.Spend(length / kBytesPerStep);
  if (std::memcmp(subject_.data() + slots_[index].start, subject_.data() + s, length) != 0) {
    return kNone;
  }
  return Match(s + length, p + 2);
}

// The position after the item that begins at `p`, which is not at the end.
size_t PatternMatcher::ItemEnd(size_t p) {
  const char first = pattern_[p++];
  if (first == '%') {
    return p < pattern_.size() ? p + 1 : Fail("malformed pattern (ends with '%')");
  }
  if (first != '[') return p;
  if (PatternAt(p) == '^') ++p;
  // A ] that comes first is itself.
  bool is_first = true;
  while (true) {
    if (p >= pattern_.size()) return Fail("malformed pattern (missing ']')");
    const char c = pattern_[p++];
    if (c == ']' && !is_first) return p;
    is_first = false;
    if (c != '%') continue;
    if (p >= pattern_.size()) return Fail("malformed pattern (missing ']')");
    ++p;
  }
}

bool PatternMatcher::MatchesSingle(size_t s, size_t p, size_t item_end) const {
  const unsigned char c = static_cast<unsigned char>(subject_[s]);
  switch (pattern_[p]) {
    case '.':
      return true;
    case '%':
      return InClass(c, pattern_[p + 1]);
    case '[':
      return MatchesSet(c, p, item_end - 1);
    default:
      return static_cast<unsigned char>(pattern_[p]) == c;
  }
}

// [set] from the bracket at `p` to the one at `last`.
bool PatternMatcher::MatchesSet(unsigned char c, size_t p, size_t last) const {
  bool found = true;
  if (pattern_[p + 1] == '^') {
    found = false;
    ++p;
  }
  while (++p < last) {
    if (pattern_[p] == '%') {
      ++p;
      if (InClass(c, pattern_[p])) return found;
    } else if (p + 2 < last && pattern_[p + 1] == '-') {
      if (static_cast<unsigned char>(pattern_[p]) <= c &&
          c <= static_cast<unsigned char>(pattern_[p + 2])) {
        return found;
      }
      p += 2;
    } else if (static_cast<unsigned char>(pattern_[p]) == c) {
      return found;
    }
  }
  return !found;
}

}  // namespace sluice::lua
