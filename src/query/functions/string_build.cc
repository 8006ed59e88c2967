// Strings and arrays of strings made from others: joining, padding, repeating, replacing,
// splitting.
#include <algorithm>

#include "query/functions/arguments.h"
#include "query/functions/function.h"
#include "query/functions/mask.h"
#include "query/functions/text.h"

namespace sluice::query {
namespace {

// The operator || too. No other type becomes a string.
Value Concat(FunctionContext& context, Args args) {
  if (!AllStrings(args)) return nullptr;
  size_t size = 0;
  for (const Value* arg : args) size += arg->AsString().size();
  if (!context.Allow(size)) return nullptr;
  std::string out;
  out.reserve(size);
  for (const Value* arg : args) out += arg->AsString();
  return out;
}

// CONCAT2(separator, string or array of strings, ...)
Value ConcatWith(FunctionContext& context, Args args) {
  if (!args[0]->is_string()) return nullptr;
  const std::string_view separator = TextOf(args, 0);
  std::vector<std::string_view> parts;
  size_t size = 0;
  const auto add = [&](const Value& part) {
    if (!part.is_string()) return false;
    parts.push_back(part.AsString());
    size += parts.back().size() + separator.size();
    return true;
  };
  for (const Value* arg : args.subspan(1)) {
    if (arg->is_array() ? !std::ranges::all_of(arg->items(), add) : !add(*arg)) return nullptr;
  }
  if (!context.Allow(size)) return nullptr;
  std::string out;
  out.reserve(size);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

Value Repeat(FunctionContext& context, Args args) {
  const auto count = WholeNumber(*args[1]);
  if (!args[0]->is_string() || !count || *count < 0) return nullptr;
  const std::string_view text = TextOf(args, 0);
  if (*count > kRangeLimit) {
    context.Fail(
        QueryError(QueryCode::kRange, "REPEAT() may repeat {} times, not {}", kRangeLimit, *count));
    return nullptr;
  }
  const auto times = static_cast<size_t>(*count);
  if (!context.Allow(text.size() * times)) return nullptr;
  std::string out;
  out.reserve(text.size() * times);
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

enum class Side : uint8_t { kLeft, kRight };

// LPAD(text, size [, pad]): cuts what is longer.
template <Side side, Unit unit>
Value Pad(FunctionContext& context, Args args) {
  const auto wanted = WholeNumber(*args[1]);
  if (!args[0]->is_string() || !wanted || *wanted < 0) return nullptr;
  if (args.size() > 2 && !args[2]->is_string()) return nullptr;
  const std::string_view text = TextOf(args, 0);
  const std::string_view pad = args.size() > 2 ? TextOf(args, 2) : " ";
  if (pad.empty()) return nullptr;

  const auto size = static_cast<size_t>(*wanted);
  const bool runes = unit == Unit::kRunes;
  const size_t has = runes ? RuneCount(text) : text.size();
  if (size <= has) {
    return runes ? Value(text.substr(0, RuneOffset(text, size))) : TextValue(text.substr(0, size));
  }
  const size_t pad_size = runes ? RuneCount(pad) : pad.size();
  const size_t times = (size - has) / pad_size;
  const size_t rest = (size - has) % pad_size;
  constexpr size_t kFarTooLarge = size_t{1} << 48;  // so that nothing overflows
  if (!context.Allow(std::min(size, kFarTooLarge) * (runes ? 4 : 1))) return nullptr;
  std::string filling;
  for (size_t i = 0; i < times; ++i) filling += pad;
  filling += pad.substr(0, runes ? RuneOffset(pad, rest) : rest);
  return TextValue(side == Side::kLeft ? filling.append(text) : filling.insert(0, text));
}

// Where the next `old` is at or after `at`; an empty one is before each character and at the end.
size_t FindNext(std::string_view text, std::string_view old, size_t at, bool first) {
  if (!old.empty()) return FindText(text, old, at);
  if (first) return 0;
  return at >= text.size() ? text.npos : at + RuneAt(text, at).size;
}

// REPLACE(text, old, new [, n])
Value Replace(FunctionContext& context, Args args) {
  if (!AllStrings(args.subspan(0, 3))) return nullptr;
  const auto limit = args.size() > 3 ? WholeNumber(*args[3]) : -1;
  if (!limit) return nullptr;
  const std::string_view text = TextOf(args, 0), old = TextOf(args, 1), with = TextOf(args, 2);
  std::vector<size_t> places;
  size_t at = 0;
  while (static_cast<int64_t>(places.size()) != *limit) {
    const size_t found = FindNext(text, old, at, places.empty());
    if (found == text.npos) break;
    places.push_back(found);
    at = found + old.size();
  }
  if (places.empty()) return *args[0];
  if (!context.Allow(text.size() + places.size() * with.size())) return nullptr;
  std::string out;
  at = 0;
  for (const size_t place : places) {
    out.append(text.substr(at, place - at)).append(with);
    at = place + old.size();
  }
  return out.append(text.substr(at));
}

std::vector<Value> SplitAtSpaces(std::string_view text) {
  std::vector<Value> items;
  size_t start = 0;  // of the word
  for (size_t at = 0; at < text.size();) {
    const Rune rune = RuneAt(text, at);
    if (IsSpaceRune(rune.code)) {
      if (at > start) items.emplace_back(text.substr(start, at - start));
      start = at + rune.size;
    }
    at += rune.size;
  }
  if (start < text.size()) items.emplace_back(text.substr(start));
  return items;
}

std::vector<Value> SplitAt(std::string_view text, std::string_view separator) {
  std::vector<Value> items;
  if (separator.empty()) {  // into characters
    for (size_t at = 0; at < text.size(); at += RuneAt(text, at).size) {
      items.emplace_back(text.substr(at, RuneAt(text, at).size));
    }
    return items;
  }
  for (size_t at = 0;;) {
    const size_t found = FindText(text, separator, at);
    items.emplace_back(text.substr(at, found - at));
    if (found == text.npos) return items;
    at = found + separator.size();
  }
}

Value Split(FunctionContext& context, Args args) {
  if (!AllStrings(args)) return nullptr;
  const std::string_view text = TextOf(args, 0);
  // At worst an element for each byte.
  if (!context.Allow(text.size() * sizeof(Value))) return nullptr;
  return Value::Array(args.size() > 1 ? SplitAt(text, TextOf(args, 1)) : SplitAtSpaces(text));
}

constexpr ScalarFunction kStringBuildFunctions[] = {
    {"concat", 2, kAnyNumber, Concat},
    {"concat2", 2, kAnyNumber, ConcatWith},
    {"repeat", 2, 2, Repeat},
    {"lpad", 2, 3, Pad<Side::kLeft, Unit::kBytes>},
    {"rpad", 2, 3, Pad<Side::kRight, Unit::kBytes>},
    {"mb_lpad", 2, 3, Pad<Side::kLeft, Unit::kRunes>},
    {"mb_rpad", 2, 3, Pad<Side::kRight, Unit::kRunes>},
    {"replace", 3, 4, Replace},
    {"split", 1, 2, Split},
    {"mask", 1, 2, Mask},
};

constexpr FunctionAlias kStringBuildAliases[] = {
    {"array_to_string", "concat2"},
};

}  // namespace

FunctionFamily StringBuildFunctions() { return {kStringBuildFunctions, kStringBuildAliases}; }

}  // namespace sluice::query
