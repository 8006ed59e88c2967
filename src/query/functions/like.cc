#include "query/functions/like.h"

#include "query/error.h"
#include "query/functions/arguments.h"
#include "query/functions/function.h"
#include "query/functions/text.h"

namespace sluice::query {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kRunesPerStep = 16;

// A pattern whose only special character is %.
bool MatchesPieces(std::string_view text, std::string_view pattern) {
  size_t cut = pattern.find('%');
  if (cut == kNone) return text == pattern;
  if (!text.starts_with(pattern.substr(0, cut))) return false;
  text.remove_prefix(cut);
  pattern.remove_prefix(cut + 1);
  while ((cut = pattern.find('%')) != kNone) {
    const size_t found = FindText(text, pattern.substr(0, cut));
    if (found == kNone) return false;
    text.remove_prefix(found + cut);
    pattern.remove_prefix(cut + 1);
  }
  return text.ends_with(pattern);
}

}  // namespace

Result<LikePattern> LikePattern::Parse(std::string_view pattern, char32_t escape) {
  LikePattern parsed;
  bool escaped = false;
  for (size_t at = 0; at < pattern.size();) {
    const Rune rune = RuneAt(pattern, at);
    const std::string_view bytes = pattern.substr(at, rune.size);
    at += rune.size;
    if (escaped || (rune.code != escape && rune.code != '%' && rune.code != '_')) {
      parsed.AddLiteral(bytes);
      escaped = false;
    } else if (rune.code == escape) {
      escaped = true;
    } else if (rune.code == '_') {
      parsed.AddAny();
    } else {
      parsed.exact_ = false;
      parsed.segments_.emplace_back();
    }
  }
  if (escaped) {
    return QueryFail(QueryCode::kEvaluation,
                     "a LIKE pattern must not end with its escape character: '{}'", pattern);
  }
  return parsed;
}

void LikePattern::AddLiteral(std::string_view bytes) {
  Segment& segment = segments_.back();
  if (segment.pieces.empty() || segment.pieces.back().any > 0) segment.pieces.emplace_back();
  segment.pieces.back().literal += bytes;
  ++segment.runes;
  if (exact_) prefix_ += bytes;
}

void LikePattern::AddAny() {
  exact_ = false;
  Segment& segment = segments_.back();
  if (segment.pieces.empty() || segment.pieces.back().any == 0) segment.pieces.emplace_back();
  ++segment.pieces.back().any;
  ++segment.runes;
}

size_t LikePattern::MatchAt(const Segment& segment, std::string_view text, size_t at) {
  for (const Piece& piece : segment.pieces) {
    for (size_t i = 0; i < piece.any; ++i) {
      if (at >= text.size()) return kNone;
      at += RuneAt(text, at).size;
    }
    if (!text.substr(at).starts_with(piece.literal)) return kNone;
    at += piece.literal.size();
  }
  return at;
}

size_t LikePattern::Find(FunctionContext& context, const Segment& segment, std::string_view text,
                         size_t at) {
  if (segment.pieces.empty()) return at;
  const std::string& first = segment.pieces[0].literal;
  while (at <= text.size() && context.Spend(1 + segment.runes / kRunesPerStep)) {
    at = FindText(text, first, at);
    if (at == kNone) return kNone;
    const size_t end = MatchAt(segment, text, at);
    if (end != kNone || at >= text.size()) return end;
    at += RuneAt(text, at).size;
  }
  return kNone;
}

bool LikePattern::Matches(FunctionContext& context, std::string_view text) const {
  size_t at = MatchAt(segments_[0], text, 0);
  if (at == kNone) return false;
  if (segments_.size() == 1) return at == text.size();
  for (size_t i = 1; i + 1 < segments_.size(); ++i) {
    at = Find(context, segments_[i], text, at);
    if (at == kNone) return false;
  }
  // The last one ends where the text does, so it starts as many characters before.
  size_t start = text.size();
  for (size_t i = 0; i < segments_.back().runes; ++i) {
    if (start <= at) return false;
    start -= RuneBefore(text, start).size;
  }
  return start >= at && MatchAt(segments_.back(), text, start) == text.size();
}

Result<bool> LikeMatches(FunctionContext& context, std::string_view text, std::string_view pattern,
                         char32_t escape) {
  if (escape < 0x80 && escape != '%' && pattern.find('_') == kNone &&
      pattern.find(static_cast<char>(escape)) == kNone) {
    return MatchesPieces(text, pattern);
  }
  ASSIGN_OR_RETURN(const LikePattern parsed, LikePattern::Parse(pattern, escape));
  return parsed.Matches(context, text);
}

namespace {

// The escape character in argument number `i`, if there is one.
Result<char32_t> EscapeOf(Args args, size_t i) {
  if (args.size() <= i) return LikePattern::kDefaultEscape;
  const std::u32string runes = RunesOf(TextOf(args, i));
  if (runes.size() == 1) return runes[0];
  return QueryFail(QueryCode::kEvaluation, "ESCAPE takes one character, not '{}'", TextOf(args, i));
}

template <typename T>
bool Failed(FunctionContext& context, const Result<T>& result) {
  if (!result) context.Fail(result.error());
  return !result;
}

Value Like(FunctionContext& context, Args args) {
  if (!AllStrings(args)) return nullptr;
  const auto escape = EscapeOf(args, 2);
  if (Failed(context, escape)) return nullptr;
  const auto matches = LikeMatches(context, TextOf(args, 0), TextOf(args, 1), *escape);
  if (Failed(context, matches)) return nullptr;
  return *matches;
}

Result<LikePattern> PatternOf(Args args) {
  ASSIGN_OR_RETURN(const char32_t escape, EscapeOf(args, 1));
  return LikePattern::Parse(TextOf(args, 0), escape);
}

Value LikePrefix(FunctionContext& context, Args args) {
  if (!AllStrings(args)) return nullptr;
  const auto pattern = PatternOf(args);
  if (Failed(context, pattern)) return nullptr;
  return pattern->prefix();
}

Value LikeStop(FunctionContext& context, Args args) {
  if (!AllStrings(args)) return nullptr;
  const auto pattern = PatternOf(args);
  if (Failed(context, pattern)) return nullptr;
  return StopOf(pattern->prefix(), pattern->exact());
}

// The pattern from its first literal on.
Value LikeSuffix(FunctionContext& context, Args args) {
  if (!AllStrings(args)) return nullptr;
  const auto escape = EscapeOf(args, 1);
  if (Failed(context, escape)) return nullptr;
  std::string_view text = TextOf(args, 0);
  while (!text.empty() && *escape != static_cast<unsigned char>(text[0]) &&
         (text[0] == '%' || text[0] == '_')) {
    text.remove_prefix(1);
  }
  return text;
}

constexpr ScalarFunction kLikeFunctions[] = {
    {"like", 2, 3, Like},
    {"like_prefix", 1, 2, LikePrefix},
    {"like_stop", 1, 2, LikeStop},
    {"like_suffix", 1, 2, LikeSuffix},
};

}  // namespace

Value StopOf(std::string_view prefix, bool exact) {
  if (exact) return std::string(prefix) + '\0';
  std::u32string runes = RunesOf(prefix);
  constexpr char32_t kLast = 0x10ffff, kBeforeSurrogates = 0xd7ff, kAfterSurrogates = 0xe000;
  while (!runes.empty() && runes.back() == kLast) runes.pop_back();
  if (runes.empty()) return Value::EmptyArray();
  runes.back() = runes.back() == kBeforeSurrogates ? kAfterSurrogates : runes.back() + 1;
  std::string stop;
  for (const char32_t code : runes) AppendRune(code, &stop);
  return stop;
}

FunctionFamily LikeFunctions() { return {kLikeFunctions, {}}; }

}  // namespace sluice::query
