// Reading formats: which of the four ways a text is written in, and its items.
#include <algorithm>
#include <charconv>

#include "query/functions/date_format.h"

namespace sluice::query {
namespace {

using Item = DateFormat::Item;
using Pad = DateFormat::Pad;
using Letters = DateFormat::Letters;
using Offset = DateFormat::Offset;

constexpr std::string_view kDigits = "0123456789";

struct Word {
  std::string_view text;
  Item item;
};

// Where several fit, the first one counts.
constexpr Word kLetterWords[] = {
    {"YYYY", {.kind = DateItem::kYear, .width = 4}},
    {"YY", {.kind = DateItem::kYearOfCentury, .width = 2}},
    {"CC", {.kind = DateItem::kCentury, .width = 2}},
    {"MONTH", {.kind = DateItem::kMonthName, .letters = Letters::kUpper}},
    {"Month", {.kind = DateItem::kMonthName}},
    {"month", {.kind = DateItem::kMonthName, .letters = Letters::kLower}},
    {"MON", {.kind = DateItem::kShortMonthName, .letters = Letters::kUpper}},
    {"Mon", {.kind = DateItem::kShortMonthName}},
    {"mon", {.kind = DateItem::kShortMonthName, .letters = Letters::kLower}},
    {"MM", {.kind = DateItem::kMonth, .pad = Pad::kLoose, .width = 2}},
    {"MI", {.kind = DateItem::kMinute, .pad = Pad::kLoose, .width = 2}},
    {"DD", {.kind = DateItem::kDay, .pad = Pad::kLoose, .width = 2}},
    {"DAY", {.kind = DateItem::kWeekdayName, .letters = Letters::kUpper}},
    {"Day", {.kind = DateItem::kWeekdayName}},
    {"day", {.kind = DateItem::kWeekdayName, .letters = Letters::kLower}},
    {"DY", {.kind = DateItem::kShortWeekdayName, .letters = Letters::kUpper}},
    {"Dy", {.kind = DateItem::kShortWeekdayName}},
    {"dy", {.kind = DateItem::kShortWeekdayName, .letters = Letters::kLower}},
    {"HH24", {.kind = DateItem::kHour, .pad = Pad::kLoose, .width = 2}},
    {"HH12", {.kind = DateItem::kHour12, .pad = Pad::kLoose, .width = 2}},
    {"HH", {.kind = DateItem::kHour12, .pad = Pad::kLoose, .width = 2}},
    {"hh", {.kind = DateItem::kHour, .pad = Pad::kLoose, .width = 2}},
    {"mm", {.kind = DateItem::kMinute, .pad = Pad::kLoose, .width = 2}},
    {"sss", {.kind = DateItem::kNanos, .pad = Pad::kLoose, .width = 9}},
    {"SSS", {.kind = DateItem::kNanos, .pad = Pad::kLoose, .width = 9}},
    {"ss", {.kind = DateItem::kSecond, .pad = Pad::kLoose, .width = 2}},
    {"SS", {.kind = DateItem::kSecond, .pad = Pad::kLoose, .width = 2}},
    {"s", {.kind = DateItem::kMillis, .pad = Pad::kLoose, .width = 3}},
    {"S", {.kind = DateItem::kMillis, .pad = Pad::kLoose, .width = 3}},
    {"PP", {.kind = DateItem::kHalfDay, .any_case = true}},
    {"AM", {.kind = DateItem::kHalfDay, .any_case = true}},
    {"PM", {.kind = DateItem::kHalfDay, .any_case = true}},
    {"pp", {.kind = DateItem::kHalfDay, .letters = Letters::kLower, .any_case = true}},
    {"am", {.kind = DateItem::kHalfDay, .letters = Letters::kLower, .any_case = true}},
    {"pm", {.kind = DateItem::kHalfDay, .letters = Letters::kLower, .any_case = true}},
    {"TZD", {.kind = DateItem::kZoneOffset, .zulu = true}},
    {"TZN", {.kind = DateItem::kZoneAbbreviation}},
    {"TZF", {.kind = DateItem::kZoneName}},
};

constexpr Word kReferenceWords[] = {
    {"January", {.kind = DateItem::kMonthName}},
    {"Jan", {.kind = DateItem::kShortMonthName}},
    {"Monday", {.kind = DateItem::kWeekdayName}},
    {"Mon", {.kind = DateItem::kShortWeekdayName}},
    {"MST", {.kind = DateItem::kZoneAbbreviation}},
    {"2006", {.kind = DateItem::kYear, .width = 4}},
    {"002", {.kind = DateItem::kDayOfYear, .width = 3}},
    {"01", {.kind = DateItem::kMonth, .width = 2}},
    {"02", {.kind = DateItem::kDay, .width = 2}},
    {"03", {.kind = DateItem::kHour12, .width = 2}},
    {"04", {.kind = DateItem::kMinute, .width = 2}},
    {"05", {.kind = DateItem::kSecond, .width = 2}},
    {"06", {.kind = DateItem::kYearOfCentury, .width = 2}},
    {"15", {.kind = DateItem::kHour, .pad = Pad::kLoose, .width = 2}},
    {"__2", {.kind = DateItem::kDayOfYear, .pad = Pad::kSpace, .width = 3}},
    {"_2006", {.kind = DateItem::kLiteral, .literal = '_'}},  // the year follows
    {"_2", {.kind = DateItem::kDay, .pad = Pad::kSpace, .width = 2}},
    {"PM", {.kind = DateItem::kHalfDay}},
    {"pm", {.kind = DateItem::kHalfDay, .letters = Letters::kLower}},
    {"Z07:00:00", {.kind = DateItem::kZoneOffset, .offset = Offset::kSeconds, .zulu = true}},
    {"Z07:00", {.kind = DateItem::kZoneOffset, .zulu = true}},
    {"Z070000", {.kind = DateItem::kZoneOffset, .offset = Offset::kPlainSeconds, .zulu = true}},
    {"Z0700", {.kind = DateItem::kZoneOffset, .offset = Offset::kPlain, .zulu = true}},
    {"Z07", {.kind = DateItem::kZoneOffset, .offset = Offset::kHours, .zulu = true}},
    {"-07:00:00", {.kind = DateItem::kZoneOffset, .offset = Offset::kSeconds}},
    {"-07:00", {.kind = DateItem::kZoneOffset}},
    {"-070000", {.kind = DateItem::kZoneOffset, .offset = Offset::kPlainSeconds}},
    {"-0700", {.kind = DateItem::kZoneOffset, .offset = Offset::kPlain}},
    {"-07", {.kind = DateItem::kZoneOffset, .offset = Offset::kHours}},
    {"1", {.kind = DateItem::kMonth, .pad = Pad::kNone, .width = 2}},
    {"2", {.kind = DateItem::kDay, .pad = Pad::kNone, .width = 2}},
    {"3", {.kind = DateItem::kHour12, .pad = Pad::kNone, .width = 2}},
    {"4", {.kind = DateItem::kMinute, .pad = Pad::kNone, .width = 2}},
    {"5", {.kind = DateItem::kSecond, .pad = Pad::kNone, .width = 2}},
};

// What follows '%'. A number's width is its usual one.
constexpr Word kPercentWords[] = {
    {"Y", {.kind = DateItem::kYear, .width = 4}},
    {"C", {.kind = DateItem::kCentury, .width = 2}},
    {"y", {.kind = DateItem::kYearOfCentury, .width = 2}},
    {"m", {.kind = DateItem::kMonth, .width = 2}},
    {"B", {.kind = DateItem::kMonthName}},
    {"b", {.kind = DateItem::kShortMonthName}},
    {"h", {.kind = DateItem::kShortMonthName}},
    {"d", {.kind = DateItem::kDay, .width = 2}},
    {"e", {.kind = DateItem::kDay, .pad = Pad::kSpace, .width = 2}},
    {"f", {.kind = DateItem::kOrdinal}},
    {"j", {.kind = DateItem::kDayOfYear, .width = 1}},
    {"A", {.kind = DateItem::kWeekdayName}},
    {"a", {.kind = DateItem::kShortWeekdayName}},
    {"H", {.kind = DateItem::kHour, .width = 2}},
    {"k", {.kind = DateItem::kHour, .pad = Pad::kSpace, .width = 2}},
    {"I", {.kind = DateItem::kHour12, .width = 2}},
    {"l", {.kind = DateItem::kHour12, .pad = Pad::kSpace, .width = 2}},
    {"p", {.kind = DateItem::kHalfDay}},
    {"P", {.kind = DateItem::kHalfDay, .letters = Letters::kLower}},
    {"M", {.kind = DateItem::kMinute, .width = 2}},
    {"S", {.kind = DateItem::kSecond, .width = 2}},
    {"N", {.kind = DateItem::kNanos, .width = 9}},
    {"n", {.kind = DateItem::kMillis, .width = 3}},
    {"s", {.kind = DateItem::kEpochSeconds, .width = 1}},
    {"z", {.kind = DateItem::kZoneOffset, .offset = Offset::kPlain}},
    {"Z", {.kind = DateItem::kZoneAbbreviation}},
    {"V", {.kind = DateItem::kIsoWeek, .width = 1}},
    {"G", {.kind = DateItem::kIsoYear, .width = 1}},
    {"q", {.kind = DateItem::kQuarter, .width = 1}},
    {"u", {.kind = DateItem::kIsoWeekday, .width = 1}},
    {"w", {.kind = DateItem::kWeekday, .width = 1}},
    {"U", {.kind = DateItem::kSundayWeek, .width = 1}},
    {"W", {.kind = DateItem::kMondayWeek, .width = 1}},
    {"#", {.kind = DateItem::kEpochClock}},
    {"@", {.kind = DateItem::kEpochClockMillis}},
};

// What stands for several others.
std::string_view LongFormOf(char letter) {
  switch (letter) {
    case 'R':
      return "%H:%M";
    case 'T':
    case 'X':
      return "%H:%M:%S";
    case 'r':
      return "%I:%M:%S %p";
    case 'D':
    case 'x':
      return "%Y-%m-%d";
    default:
      return "";
  }
}

template <size_t size>
const Word* FindWord(const Word (&words)[size], std::string_view text) {
  const auto* word =
      std::ranges::find_if(words, [&](const Word& known) { return text.starts_with(known.text); });
  return word == std::end(words) ? nullptr : word;
}

// What a '%' may have before its letter: a flag, a width, E or O, colons.
struct Modifiers {
  char flag = 0;
  int width = 0;
  int colons = 0;
};

Modifiers TakeModifiers(std::string_view* text) {
  Modifiers modifiers;
  if (!text->empty() && std::string_view("_-0^").find((*text)[0]) != std::string_view::npos) {
    modifiers.flag = (*text)[0];
    text->remove_prefix(1);
  }
  const auto [end, error] =
      std::from_chars(text->data(), text->data() + text->size(), modifiers.width);
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  if (text->starts_with('E') || text->starts_with('O')) text->remove_prefix(1);
  for (; text->starts_with(':'); text->remove_prefix(1)) ++modifiers.colons;
  return modifiers;
}

// False when the item can't have them.
bool Apply(const Modifiers& modifiers, Item* item) {
  constexpr int kWidest = 64;
  if (modifiers.width > kWidest || modifiers.colons > 3) return false;
  if (modifiers.colons > 0) {
    if (item->kind != DateItem::kZoneOffset) return false;
    constexpr Offset kStyles[] = {Offset::kColon, Offset::kSeconds, Offset::kShortest};
    item->offset = kStyles[modifiers.colons - 1];
  }
  if (item->width > 0 && modifiers.width > 0) item->width = static_cast<uint8_t>(modifiers.width);
  switch (modifiers.flag) {
    case '_':
      item->pad = Pad::kSpace;
      break;
    case '-':
      item->pad = Pad::kNone;
      if (item->kind == DateItem::kZoneAbbreviation) item->zulu = true;
      break;
    case '0':
      item->pad = Pad::kZero;
      break;
    case '^':
      item->letters = Letters::kUpper;
      item->any_case = true;
      if (item->kind == DateItem::kZoneAbbreviation) item->kind = DateItem::kZoneName;
      if (item->kind == DateItem::kEpochSeconds) item->kind = DateItem::kEpochNanos;
      break;
    default:
      break;
  }
  return true;
}

Item LiteralOrBlank(char c) {
  return {.kind = c == ' ' ? DateItem::kBlank : DateItem::kLiteral, .literal = c};
}

bool IsMoment(std::string_view text) {
  const size_t digits = std::min(text.find_first_not_of(kDigits), text.size());
  const std::string_view lead = text.substr(0, digits);
  if (digits == 0 || lead == "2006") return true;
  return digits <= 2 && lead.back() >= '1' && lead.back() <= '6' && (digits == 1 || lead[0] == '0');
}

// Without the two words that have digits.
bool HasDigits(std::string text) {
  for (const std::string_view word : {"HH24", "HH12"}) {
    for (size_t at; (at = text.find(word)) != text.npos;) text.replace(at, word.size(), "hh");
  }
  return text.find_first_of(kDigits) != text.npos;
}

}  // namespace

std::optional<DateFormat> DateFormat::Read(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return Default();
  if (text.find('%') != text.npos) return ReadPercent(text);
  if (!HasDigits(std::string(text))) return ReadLetters(text);
  if (IsMoment(text.substr(begin))) return ReadReference(text);
  if (auto format = Detect(text.substr(begin))) return format;
  return Default();
}

std::optional<DateFormat> DateFormat::ReadPercent(std::string_view text) {
  DateFormat format;
  while (!text.empty()) {
    const char c = text[0];
    text.remove_prefix(1);
    if (c != '%') {
      format.items_.push_back(LiteralOrBlank(c));
      continue;
    }
    const Modifiers modifiers = TakeModifiers(&text);
    if (text.empty()) return std::nullopt;
    const char letter = text[0];
    if (letter == '%') {
      format.items_.push_back({.kind = DateItem::kLiteral, .literal = '%'});
    } else if (letter == 'F') {
      const std::vector<Item>& whole = Default().items_;
      format.items_.insert(format.items_.end(), whole.begin(), whole.end());
    } else if (const std::string_view form = LongFormOf(letter); !form.empty()) {
      const auto read = ReadPercent(form);
      format.items_.insert(format.items_.end(), read->items_.begin(), read->items_.end());
    } else {
      const Word* word = FindWord(kPercentWords, text);
      if (word == nullptr) return std::nullopt;
      Item item = word->item;
      if (!Apply(modifiers, &item)) return std::nullopt;
      format.items_.push_back(item);
    }
    text.remove_prefix(1);
  }
  return format;
}

DateFormat DateFormat::ReadLetters(std::string_view text) {
  DateFormat format;
  bool known = false;  // a single letter may stand in any word
  while (!text.empty()) {
    const Word* word = FindWord(kLetterWords, text);
    known |= word != nullptr && word->text.size() > 1;
    format.items_.push_back(word != nullptr ? word->item : LiteralOrBlank(text[0]));
    text.remove_prefix(word != nullptr ? word->text.size() : 1);
  }
  return known ? format : Default();
}

DateFormat DateFormat::ReadReference(std::string_view text) {
  DateFormat format;
  while (!text.empty()) {
    const char c = text[0];
    // A fraction of a second: a point or comma and zeros, or nines for one without end zeros.
    if ((c == '.' || c == ',') && text.size() > 1 && (text[1] == '0' || text[1] == '9')) {
      const size_t end = std::min(text.find_first_not_of(text[1], 1), text.size());
      if (end == text.size() || kDigits.find(text[end]) == kDigits.npos) {
        const auto width = static_cast<uint8_t>(std::min<size_t>(end - 1, 9));
        if (text[1] == '9') {
          format.items_.push_back(
              {.kind = DateItem::kTrimmedFraction, .literal = c, .width = width});
        } else {
          format.items_.push_back({.kind = DateItem::kLiteral, .literal = c});
          format.items_.push_back({.kind = DateItem::kFraction, .width = width});
        }
        text.remove_prefix(end);
        continue;
      }
    }
    const Word* word = FindWord(kReferenceWords, text);
    format.items_.push_back(word != nullptr ? word->item
                                            : Item{.kind = DateItem::kLiteral, .literal = c});
    const bool literal = word == nullptr || word->item.kind == DateItem::kLiteral;
    text.remove_prefix(literal ? 1 : word->text.size());
  }
  return format;
}

}  // namespace sluice::query
