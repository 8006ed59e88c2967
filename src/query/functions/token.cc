// Tokens: the words of strings, and every other atom, inside a value. Options of all of them:
//   names     field names count too (true)
//   case      "lower" or "upper" (as it is)
//   split     strings are cut into words of letters and digits (true)
//   trim      when they are not, spaces around them go (true)
//   specials  words with what holds them together are tokens too, such as addresses (false)
#include <functional>
#include <optional>
#include <set>

#include "json/compare.h"
#include "query/functions/arguments.h"
#include "query/functions/function.h"
#include "query/functions/like.h"
#include "query/functions/regex.h"
#include "query/functions/text.h"

namespace sluice::query {
namespace {

struct TokenOptions {
  enum class Case : uint8_t { kAsIs, kLower, kUpper };

  explicit TokenOptions(const Value& options)
      : names(Flag(options, "names", true)),
        split(Flag(options, "split", true)),
        trim(Flag(options, "trim", true)),
        specials(Flag(options, "specials", false)) {
    const Value& wanted = options["case"];
    const std::string name = wanted.is_string() ? ToLowerAscii(wanted.AsString()) : "";
    if (name == "lower") letters = Case::kLower;
    if (name == "upper") letters = Case::kUpper;
  }

  static bool Flag(const Value& options, std::string_view name, bool otherwise) {
    return options[name].is_bool() ? options[name].AsBool() : otherwise;
  }

  bool names, split, trim, specials;
  Case letters = Case::kAsIs;
};

// Says whether to go on.
using Visitor = std::function<bool(const Value& token)>;

bool IsWordRune(char32_t code) { return IsLetterRune(code) || IsNumberRune(code); }

bool IsBreak(char32_t code) {
  return IsSpaceRune(code) ||
         std::u32string_view(U"()[]{}").find(code) != std::u32string_view::npos;
}

// The longest parts without a character that `separates`.
template <typename Separates, typename Visit>
bool EachPart(std::string_view text, Separates separates, Visit visit) {
  size_t start = 0;
  for (size_t at = 0; at < text.size();) {
    const Rune rune = RuneAt(text, at);
    if (separates(rune.code)) {
      if (at > start && !visit(text.substr(start, at - start))) return false;
      start = at + rune.size;
    }
    at += rune.size;
  }
  return start == text.size() || visit(text.substr(start));
}

template <typename Drops>
std::string_view TrimEnd(std::string_view text, Drops drops) {
  while (!text.empty()) {
    const Rune rune = RuneBefore(text, text.size());
    if (!drops(rune.code)) break;
    text.remove_suffix(rune.size);
  }
  return text;
}

std::string_view TrimSpaces(std::string_view text) {
  text = TrimEnd(text, IsSpaceRune);
  while (!text.empty() && IsSpaceRune(RuneAt(text, 0).code)) {
    text.remove_prefix(RuneAt(text, 0).size);
  }
  return text;
}

bool VisitText(std::string_view text, const TokenOptions& options, const Visitor& visitor) {
  const auto visit = [&](std::string_view part) {
    if (options.letters == TokenOptions::Case::kLower) return visitor(ToLowerText(part));
    if (options.letters == TokenOptions::Case::kUpper) return visitor(ToUpperText(part));
    return visitor(part);
  };
  if (!options.split) return visit(options.trim ? TrimSpaces(text) : text);
  const auto no_word = [](char32_t code) { return !IsWordRune(code); };
  if (!EachPart(text, no_word, visit)) return false;
  if (!options.specials) return true;
  return EachPart(text, IsBreak, [&](std::string_view part) {
    part = TrimEnd(part, no_word);
    return part.empty() || visit(part);
  });
}

bool VisitTokens(const Value& value, const TokenOptions& options, const Visitor& visitor) {
  if (value.is_string()) return VisitText(value.AsString(), options, visitor);
  if (value.is_missing()) return true;
  if (!value.is_array() && !value.is_object()) return visitor(value);
  for (const Value& item : value.items()) {
    if (!VisitTokens(item, options, visitor)) return false;
  }
  for (const json::Field& field : value.fields()) {
    if (options.names && !VisitText(field.name(), options, visitor)) return false;
    if (!VisitTokens(field.value, options, visitor)) return false;
  }
  return true;
}

// The options in argument `i`; nothing when they are no object.
std::optional<TokenOptions> OptionsOf(Args args, size_t i) {
  if (args.size() <= i) return TokenOptions(Value::EmptyObject());
  if (!args[i]->is_object()) return std::nullopt;
  return TokenOptions(*args[i]);
}

Value HasToken(Args args, const TokenOptions& options,
               const std::function<bool(const Value&)>& is) {
  return !VisitTokens(*args[0], options, [&](const Value& token) { return !is(token); });
}

Value ContainsToken(FunctionContext&, Args args) {
  const auto options = OptionsOf(args, 2);
  if (!options) return nullptr;
  return HasToken(args, *options, [&](const Value& token) { return json::Equal(token, *args[1]); });
}

Value ContainsTokenLike(FunctionContext& context, Args args) {
  const auto options = OptionsOf(args, 2);
  if (!options || !args[1]->is_string()) return nullptr;
  const auto pattern = LikePattern::Parse(TextOf(args, 1));
  if (!pattern) {
    context.Fail(pattern.error());
    return nullptr;
  }
  return HasToken(args, *options, [&](const Value& token) {
    return token.is_string() && pattern->Matches(context, token.AsString());
  });
}

Value ContainsTokenRegexp(FunctionContext& context, Args args) {
  const auto options = OptionsOf(args, 2);
  if (!options || !args[1]->is_string()) return nullptr;
  const re2::RE2* regex = context.Regex(TextOf(args, 1), FunctionContext::Match::kWhole);
  if (regex == nullptr) return nullptr;
  return HasToken(args, *options, [&](const Value& token) {
    return token.is_string() && MatchesRegex(context, *regex, token.AsString());
  });
}

// Each token once, in collation order. NULL is a token.
Value Tokens(FunctionContext& context, Args args) {
  if (args[0]->is_missing() || (args.size() > 1 && args[1]->is_missing())) return {};
  const auto options = OptionsOf(args, 1);
  if (!options) return nullptr;
  std::set<Value, json::ValueLess> tokens;
  const bool all = VisitTokens(*args[0], *options, [&](const Value& token) {
    const size_t size = token.is_string() ? token.AsString().size() : 0;
    return !tokens.insert(token).second || context.Allow(4 * sizeof(Value) + size);
  });
  if (!all) return nullptr;
  return Value::Array(std::vector<Value>(tokens.begin(), tokens.end()));
}

constexpr ScalarFunction kTokenFunctions[] = {
    {"contains_token", 2, 3, ContainsToken},
    {"contains_token_like", 2, 3, ContainsTokenLike},
    {"contains_token_regexp", 2, 3, ContainsTokenRegexp},
    {"tokens", 1, 2, Tokens, Unknowns::kSeen},
};

constexpr FunctionAlias kTokenAliases[] = {
    {"has_token", "contains_token"},
    {"contains_token_regex", "contains_token_regexp"},
};

}  // namespace

FunctionFamily TokenFunctions() { return {kTokenFunctions, kTokenAliases}; }

}  // namespace sluice::query
