// Regular expressions, in RE2's syntax. Positions are in bytes. A pattern that is no regular
// expression ends the statement.
#include <vector>

#include "query/functions/arguments.h"
#include "query/functions/function.h"
#include "query/functions/like.h"
#include "query/functions/regex.h"
#include "query/functions/text.h"

namespace sluice::query {
namespace {

using Match = FunctionContext::Match;

// Half open, in bytes.
struct Span {
  size_t begin;
  size_t end;
};

bool FindFirst(FunctionContext& context, const re2::RE2& regex, std::string_view text, size_t from,
               Span* span) {
  re2::StringPiece match;
  if (!MatchesRegex(context, regex, text, from, &match)) return false;
  span->begin = static_cast<size_t>(match.data() - text.data());
  span->end = span->begin + match.size();
  return true;
}

// Matches that do not overlap; an empty one right behind another does not count.
std::vector<Span> FindAll(FunctionContext& context, const re2::RE2& regex, std::string_view text) {
  std::vector<Span> spans;
  constexpr size_t kNowhere = std::string_view::npos;
  size_t last_end = kNowhere;
  Span span{};
  for (size_t at = 0; at <= text.size() && FindFirst(context, regex, text, at, &span);) {
    const bool empty_here = span.end == at;
    if (!empty_here || span.begin != last_end) spans.push_back(span);
    at = !empty_here ? span.end : at < text.size() ? at + RuneAt(text, at).size : at + 1;
    last_end = span.end;
  }
  return spans;
}

// The pattern of argument 1; null when the arguments are no strings or the statement failed.
const re2::RE2* PatternOf(FunctionContext& context, Args args, Match match) {
  if (!args[0]->is_string() || !args[1]->is_string()) return nullptr;
  return context.Regex(TextOf(args, 1), match);
}

Value RegexContains(FunctionContext& context, Args args) {
  const re2::RE2* regex = PatternOf(context, args, Match::kAnywhere);
  if (regex == nullptr) return nullptr;
  return MatchesRegex(context, *regex, TextOf(args, 0));
}

Value RegexLike(FunctionContext& context, Args args) {
  const re2::RE2* regex = PatternOf(context, args, Match::kWhole);
  if (regex == nullptr) return nullptr;
  return MatchesRegex(context, *regex, TextOf(args, 0));
}

// -1 when there is none, whatever the first position is called.
template <int first>
Value RegexPosition(FunctionContext& context, Args args) {
  const re2::RE2* regex = PatternOf(context, args, Match::kAnywhere);
  if (regex == nullptr) return nullptr;
  Span span{};
  if (!FindFirst(context, *regex, TextOf(args, 0), 0, &span)) return -1;
  return static_cast<int64_t>(span.begin) + first;
}

// REGEX_REPLACE(text, pattern, new [, n]): `new` is taken literally.
Value RegexReplace(FunctionContext& context, Args args) {
  const auto limit = args.size() > 3 ? WholeNumber(*args[3]) : kRangeLimit;
  if (!args[2]->is_string() || !limit) return nullptr;
  const re2::RE2* regex = PatternOf(context, args, Match::kAnywhere);
  if (regex == nullptr) return nullptr;
  const std::string_view text = TextOf(args, 0), with = TextOf(args, 2);
  std::vector<Span> spans = FindAll(context, *regex, text);
  if (args.size() > 3 && static_cast<int64_t>(spans.size()) > *limit) {
    spans.resize(*limit < 0 ? 0 : static_cast<size_t>(*limit));
  }
  if (!context.Allow(text.size() + spans.size() * with.size())) return nullptr;
  std::string out;
  size_t at = 0;
  for (const Span& span : spans) {
    out.append(text.substr(at, span.begin - at)).append(with);
    at = span.end;
  }
  return out.append(text.substr(at));
}

Value RegexMatches(FunctionContext& context, Args args) {
  const re2::RE2* regex = PatternOf(context, args, Match::kAnywhere);
  if (regex == nullptr || !context.Allow(TextOf(args, 0).size() * sizeof(Value))) return nullptr;
  const std::string_view text = TextOf(args, 0);
  std::vector<Value> items;
  for (const Span& span : FindAll(context, *regex, text)) {
    items.push_back(TextValue(text.substr(span.begin, span.end - span.begin)));
  }
  return Value::Array(std::move(items));
}

// [] when nothing separates; no empty part after the last separator.
Value RegexSplit(FunctionContext& context, Args args) {
  const re2::RE2* regex = PatternOf(context, args, Match::kAnywhere);
  if (regex == nullptr || !context.Allow(TextOf(args, 0).size() * sizeof(Value))) return nullptr;
  const std::string_view text = TextOf(args, 0);
  std::vector<Value> items;
  size_t at = 0;
  for (const Span& span : FindAll(context, *regex, text)) {
    if (span.end == 0) continue;
    items.push_back(TextValue(text.substr(at, span.begin - at)));
    at = span.end;
  }
  if (!items.empty() && at < text.size()) items.push_back(TextValue(text.substr(at)));
  return Value::Array(std::move(items));
}

bool IsSpecial(char c) {
  return std::string_view("\\.+*?()|[]{}^$").find(c) != std::string_view::npos;
}

// Whether the pattern has alternatives outside of groups.
bool HasAlternatives(std::string_view pattern) {
  int depth = 0;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\') {
      ++i;
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
    } else if (c == '(' || c == ')') {
      depth += c == '(' ? 1 : -1;
    } else if (c == '|' && depth == 0) {
      return true;
    }
  }
  return false;
}

struct Literal {
  std::string text;
  bool whole = false;  // it is all of the pattern
};

// The literal that every match starts with, as far as it can be read from the pattern.
Literal LiteralPrefix(std::string_view pattern) {
  Literal literal;
  if (HasAlternatives(pattern)) return literal;
  size_t at = 0;
  while (at < pattern.size()) {
    size_t size = RuneAt(pattern, at).size;
    std::string_view next = pattern.substr(at, size);
    if (next == "\\" && at + 1 < pattern.size() && IsSpecial(pattern[at + 1])) {
      next = pattern.substr(at + 1, 1);
      size = 2;
    } else if (IsSpecial(next[0])) {
      break;
    }
    // What may be there no time at all, or several times, is not certain.
    const char after = at + size < pattern.size() ? pattern[at + size] : ' ';
    if (after == '*' || after == '?' || after == '{') break;
    literal.text += next;
    at += size;
  }
  literal.whole = at == pattern.size();
  return literal;
}

Value RegexPrefix(FunctionContext& context, Args args) {
  if (!AllStrings(args)) return nullptr;
  if (context.Regex(TextOf(args, 0), Match::kAnywhere) == nullptr) return nullptr;
  return LiteralPrefix(TextOf(args, 0)).text;
}

Value RegexStop(FunctionContext& context, Args args) {
  if (!AllStrings(args)) return nullptr;
  if (context.Regex(TextOf(args, 0), Match::kAnywhere) == nullptr) return nullptr;
  const Literal literal = LiteralPrefix(TextOf(args, 0));
  return StopOf(literal.text, literal.whole);
}

// The pattern from its first literal on.
Value RegexSuffix(FunctionContext& context, Args args) {
  if (!AllStrings(args)) return nullptr;
  if (context.Regex(TextOf(args, 0), Match::kAnywhere) == nullptr) return nullptr;
  std::string_view pattern = TextOf(args, 0);
  while (!pattern.empty() && LiteralPrefix(pattern).text.empty()) {
    pattern.remove_prefix(RuneAt(pattern, 0).size);
  }
  return pattern;
}

constexpr ScalarFunction kPatternFunctions[] = {
    {"regexp_contains", 2, 2, RegexContains},
    {"regexp_like", 2, 2, RegexLike},
    {"regexp_position0", 2, 2, RegexPosition<0>},
    {"regexp_position1", 2, 2, RegexPosition<1>},
    {"regexp_replace", 3, 4, RegexReplace},
    {"regexp_matches", 2, 2, RegexMatches},
    {"regexp_split", 2, 2, RegexSplit},
    {"regexp_prefix", 1, 1, RegexPrefix},
    {"regexp_stop", 1, 1, RegexStop},
    {"regexp_suffix", 1, 1, RegexSuffix},
};

constexpr FunctionAlias kPatternAliases[] = {
    {"contains_regex", "regexp_contains"},   {"contains_regexp", "regexp_contains"},
    {"regex_contains", "regexp_contains"},   {"regex_like", "regexp_like"},
    {"regex_position0", "regexp_position0"}, {"regex_pos0", "regexp_position0"},
    {"regexp_pos0", "regexp_position0"},     {"regex_position", "regexp_position0"},
    {"regex_pos", "regexp_position0"},       {"regexp_position", "regexp_position0"},
    {"regexp_pos", "regexp_position0"},      {"regex_position1", "regexp_position1"},
    {"regex_pos1", "regexp_position1"},      {"regexp_pos1", "regexp_position1"},
    {"regex_replace", "regexp_replace"},
};

}  // namespace

FunctionFamily PatternFunctions() { return {kPatternFunctions, kPatternAliases}; }

}  // namespace sluice::query
