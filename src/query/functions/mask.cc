#include "query/functions/mask.h"

#include <algorithm>
#include <optional>

#include "query/functions/arguments.h"
#include "query/functions/regex.h"
#include "query/functions/text.h"

namespace sluice::query {
namespace {

struct Anchor {
  size_t skipped = 0;     // characters of the text before the mask
  bool from_end = false;  // both are walked from their ends
};

std::u32string OptionRunes(const Value& options, std::string_view name,
                           std::string_view otherwise) {
  const Value& option = options[name];
  return RunesOf(option.is_string() ? option.AsString() : otherwise);
}

// Nothing when the text has no place for the mask.
std::optional<Anchor> FindAnchor(FunctionContext& context, const Value& anchor,
                                 std::string_view text) {
  if (const auto position = WholeNumber(anchor)) {
    if (*position >= 0) return Anchor{static_cast<size_t>(*position), false};
    return Anchor{size_t{0} - static_cast<size_t>(*position), true};
  }
  if (!anchor.is_string()) return Anchor{};
  const std::string name = ToLowerAscii(anchor.AsString());
  if (name == "start") return Anchor{};
  if (name == "end") return Anchor{0, true};
  const re2::RE2* regex = context.Regex(anchor.AsString(), FunctionContext::Match::kAnywhere);
  re2::StringPiece match;
  if (regex == nullptr || !MatchesRegex(context, *regex, text, 0, &match)) {
    return std::nullopt;
  }
  return Anchor{RuneCount(text.substr(0, static_cast<size_t>(match.data() - text.data()))), false};
}

}  // namespace

Value Mask(FunctionContext& context, Args args) {
  if (!args[0]->is_string() || (args.size() > 1 && !args[1]->is_object())) return nullptr;
  const std::string_view source = TextOf(args, 0);
  const Value options = args.size() > 1 ? *args[1] : Value::EmptyObject();
  std::u32string mask = OptionRunes(options, "mask", "");
  if (mask.empty()) mask = U"********";
  const RuneSet holes(OptionRunes(options, "hole", " "));
  const RuneSet injects(OptionRunes(options, "inject", ""));
  const bool keep_length =
      options["length"].is_string() && ToLowerAscii(options["length"].AsString()) == "source";

  std::u32string text = RunesOf(source);
  if (!context.Allow((text.size() + mask.size()) * sizeof(char32_t))) return nullptr;
  const auto anchor = FindAnchor(context, options["anchor"], source);
  if (!anchor || anchor->skipped > text.size()) return *args[0];
  const auto injected = static_cast<size_t>(
      std::ranges::count_if(mask, [&](char32_t c) { return injects.contains(c); }));
  const size_t size = keep_length ? text.size() + injected : mask.size() + anchor->skipped;
  if (anchor->from_end) {
    std::ranges::reverse(text);
    std::ranges::reverse(mask);
  }

  std::u32string out = text.substr(0, anchor->skipped);
  size_t next = anchor->skipped;  // in the text
  for (size_t m = 0; out.size() < size && (m < mask.size() || next < text.size()); ++m) {
    if (m >= mask.size()) {
      out += text[next++];
    } else if (holes.contains(mask[m]) && next < text.size()) {
      out += text[next++];
    } else {
      out += mask[m];
      if (!injects.contains(mask[m])) ++next;
    }
  }
  if (anchor->from_end) std::ranges::reverse(out);
  std::string result;
  for (const char32_t code : out) AppendRune(code, &result);
  return result;
}

}  // namespace sluice::query
