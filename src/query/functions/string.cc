// Strings: lengths, case, trimming, positions and parts. Plain names count bytes, MB_ names count
// characters. string_build.cc makes strings from others.
#include <algorithm>

#include "query/functions/arguments.h"
#include "query/functions/function.h"
#include "query/functions/text.h"
#include "query/result_text.h"

namespace sluice::query {
namespace {

Value Contains(FunctionContext&, Args args) {
  if (!AllStrings(args)) return nullptr;
  return FindText(TextOf(args, 0), TextOf(args, 1)) != std::string_view::npos;
}

size_t LengthIn(Unit unit, std::string_view text) {
  return unit == Unit::kRunes ? RuneCount(text) : text.size();
}

template <Unit unit>
Value Length(FunctionContext&, Args args) {
  if (!AllStrings(args)) return nullptr;
  return static_cast<int64_t>(LengthIn(unit, TextOf(args, 0)));
}

// LEN: of anything.
template <Unit unit>
Value Len(FunctionContext&, Args args) {
  const Value& value = *args[0];
  if (value.is_string()) return static_cast<int64_t>(LengthIn(unit, value.AsString()));
  if (value.is_array() || value.is_object()) return static_cast<int64_t>(value.size());
  if (value.is_bytes()) return static_cast<int64_t>(value.AsBytes().size());
  if (value.is_bool()) return 1;
  if (value.is_number()) return static_cast<int64_t>(ResultText(value).size());
  return nullptr;
}

template <std::string (*map)(std::string_view)>
Value Mapped(FunctionContext& context, Args args) {
  if (!AllStrings(args) || !context.Allow(args[0]->AsString().size())) return nullptr;
  return map(TextOf(args, 0));
}

enum class TrimSide : uint8_t { kLeft = 1, kRight = 2, kBoth = 3 };

template <TrimSide side>
Value Trim(FunctionContext&, Args args) {
  if (!AllStrings(args)) return nullptr;
  std::string_view text = TextOf(args, 0);
  const RuneSet set(RunesOf(args.size() > 1 ? TextOf(args, 1) : " \t\n\f\r"));
  if (side != TrimSide::kRight) {
    while (!text.empty()) {
      const Rune rune = RuneAt(text, 0);
      if (!set.contains(rune.code)) break;
      text.remove_prefix(rune.size);
    }
  }
  if (side != TrimSide::kLeft) {
    while (!text.empty()) {
      const Rune rune = RuneBefore(text, text.size());
      if (!set.contains(rune.code)) break;
      text.remove_suffix(rune.size);
    }
  }
  return text;
}

// -1 + first when there is none, as Couchbase has it: POSITION1 then gives 0.
template <Unit unit, int first>
Value Position(FunctionContext&, Args args) {
  if (!AllStrings(args)) return nullptr;
  const std::string_view text = TextOf(args, 0);
  const size_t found = FindText(text, TextOf(args, 1));
  if (found == text.npos) return first - 1;
  return static_cast<int64_t>(LengthIn(unit, text.substr(0, found))) + first;
}

// SUBSTR(text, start [, length]): a negative start counts from the end; NULL outside the text.
template <Unit unit, int first>
Value Substr(FunctionContext&, Args args) {
  if (!args[0]->is_string()) return nullptr;
  std::string_view text = TextOf(args, 0);
  const auto start = WholeNumber(*args[1]);
  const auto length = args.size() > 2 ? WholeNumber(*args[2]) : kRangeLimit;
  if (!start || !length || *length < 0) return nullptr;
  const auto total = static_cast<int64_t>(LengthIn(unit, text));
  if (*start < -total || *start > total) return nullptr;
  const int64_t from = *start < 0 ? total + *start : *start > 0 ? *start - first : 0;
  if (from >= total) return nullptr;
  const int64_t left = total - from;
  const auto count = static_cast<size_t>(args.size() > 2 ? std::min(*length, left) : left);
  if (unit == Unit::kBytes) return TextValue(text.substr(static_cast<size_t>(from), count));
  text.remove_prefix(RuneOffset(text, static_cast<size_t>(from)));
  return text.substr(0, RuneOffset(text, count));
}

// Characters in reverse, each followed by its marks as before.
Value Reverse(FunctionContext& context, Args args) {
  if (!AllStrings(args) || !context.Allow(args[0]->AsString().size())) return nullptr;
  const std::string_view text = TextOf(args, 0);
  std::string out;
  out.reserve(text.size());
  size_t end = text.size();  // of the character with its marks
  for (size_t at = end; at > 0;) {
    const Rune rune = RuneBefore(text, at);
    at -= rune.size;
    if (IsMarkRune(rune.code) && at > 0) continue;
    out += text.substr(at, end - at);
    end = at;
  }
  return out;
}

Value Suffixes(FunctionContext& context, Args args) {
  if (!AllStrings(args)) return nullptr;
  const std::string_view text = TextOf(args, 0);
  const size_t count = RuneCount(text);
  if (!context.Allow(text.size() * (count + 1) / 2 + count * sizeof(Value))) return nullptr;
  std::vector<Value> items;
  items.reserve(count);
  for (size_t at = 0; at < text.size(); at += RuneAt(text, at).size) {
    items.emplace_back(text.substr(at));
  }
  return Value::Array(std::move(items));
}

constexpr ScalarFunction kStringFunctions[] = {
    {"contains", 2, 2, Contains},
    {"title", 1, 1, Mapped<ToTitleText>},
    {"lower", 1, 1, Mapped<ToLowerText>},
    {"upper", 1, 1, Mapped<ToUpperText>},
    {"length", 1, 1, Length<Unit::kBytes>},
    {"mb_length", 1, 1, Length<Unit::kRunes>},
    {"len", 1, 1, Len<Unit::kBytes>},
    {"mb_len", 1, 1, Len<Unit::kRunes>},
    {"ltrim", 1, 2, Trim<TrimSide::kLeft>},
    {"rtrim", 1, 2, Trim<TrimSide::kRight>},
    {"trim", 1, 2, Trim<TrimSide::kBoth>},
    {"position0", 2, 2, Position<Unit::kBytes, 0>},
    {"position1", 2, 2, Position<Unit::kBytes, 1>},
    {"mb_position0", 2, 2, Position<Unit::kRunes, 0>},
    {"mb_position1", 2, 2, Position<Unit::kRunes, 1>},
    {"reverse", 1, 1, Reverse},
    {"substr0", 2, 3, Substr<Unit::kBytes, 0>},
    {"substr1", 2, 3, Substr<Unit::kBytes, 1>},
    {"mb_substr0", 2, 3, Substr<Unit::kRunes, 0>},
    {"mb_substr1", 2, 3, Substr<Unit::kRunes, 1>},
    {"suffixes", 1, 1, Suffixes},
};

constexpr FunctionAlias kStringAliases[] = {
    {"initcap", "title"},       {"position", "position0"},   {"pos", "position0"},
    {"pos0", "position0"},      {"pos1", "position1"},       {"mb_position", "mb_position0"},
    {"mb_pos", "mb_position0"}, {"mb_pos0", "mb_position0"}, {"mb_pos1", "mb_position1"},
    {"substr", "substr0"},      {"mb_substr", "mb_substr0"},
};

}  // namespace

FunctionFamily StringFunctions() { return {kStringFunctions, kStringAliases}; }

}  // namespace sluice::query
