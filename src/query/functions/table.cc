// NOW, PRINTF, GENERATE_SERIES, and the values of typed columns.
#include "query/functions/table.h"

#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "db/datetime_text.h"
#include "db/row.h"
#include "json/print.h"
#include "query/functions/function.h"

namespace sluice::query {
namespace {

constexpr int64_t kMaxSeries = 10'000'000;
constexpr size_t kSeriesItemBytes = 96;
constexpr int kMaxWidth = 10'000;

Value ColumnValue(FunctionContext&, Args args) {
  if (args[0]->is_missing() && args.size() == 3) {
    return db::LoadColumn(static_cast<db::ColumnType>(args[1]->AsInt()), *args[2]);
  }
  return db::LoadColumn(static_cast<db::ColumnType>(args[1]->AsInt()), *args[0]);
}

Value Compared(db::ColumnType type, const Value& value) {
  if (!value.is_string()) return value;
  const auto stored = db::StoreColumn({}, {.name = "", .type = type}, value);
  return stored ? db::LoadColumn(type, *stored) : value;
}

Value ComparedValue(FunctionContext&, Args args) {
  const auto type = static_cast<db::ColumnType>(args[1]->AsInt());
  if (!args[0]->is_array()) return Compared(type, *args[0]);
  Value several = Value::EmptyArray();
  for (const Value& item : args[0]->items()) several.Append(Compared(type, item));
  return several;
}

// The form in which a column has it; none when it is of another type.
std::optional<Value> StoredForm(db::ColumnType type, const Value& value) {
  using Type = db::ColumnType;
  if (db::IsStoredAsIs(type)) return value;
  bool same = value.is_interval();
  if (type == Type::kDatetime || type == Type::kDatetimeUs) same = value.is_datetime();
  if (type == Type::kByte || type == Type::kBlob) {
    return value.is_bytes() ? std::optional<Value>(ToHex(value.AsBytes())) : std::nullopt;
  }
  if (type >= Type::kDecimal32 && type <= Type::kDecimal128) {
    return value.is_number() || value.is_decimal() ? std::optional(value) : std::nullopt;
  }
  if (!same) return std::nullopt;
  auto stored = db::StoreColumn({}, {.name = "", .type = type}, value);
  return stored ? std::optional(std::move(*stored)) : std::nullopt;
}

Value StoredValue(FunctionContext&, Args args) {
  const Value& value = *args[0];
  if (value.is_missing() || value.is_null()) return value;
  const auto type = static_cast<db::ColumnType>(args[1]->AsInt());
  const auto use = static_cast<StoredValueUse>(args[2]->AsInt());
  if (use == StoredValueUse::kAnyOf) {
    Value found = Value::EmptyArray();
    for (const Value& item : value.items()) {
      if (auto stored = StoredForm(type, item)) found.Append(std::move(*stored));
    }
    return found;
  }
  if (auto stored = StoredForm(type, value)) return std::move(*stored);
  if (use == StoredValueUse::kEqual) return Value();
  // Before and behind all numbers and texts.
  return use == StoredValueUse::kLow ? Value(false) : Value::EmptyArray();
}

// NOW(['us']): milliseconds unless microseconds are asked for.
Value Now(FunctionContext& context, Args args) {
  const int64_t us = context.statement_time_us();
  if (args.empty()) return json::Datetime{us - us % 1000};
  const bool micro = args[0]->is_string() && db::SameColumnName(args[0]->AsString(), "us");
  return json::Datetime{micro ? us : us - us % 1000};
}

Value GenerateSeries(FunctionContext& context, Args args) {
  for (const Value* arg : args) {
    if (!arg->is_int()) return nullptr;
  }
  const int64_t from = args[0]->AsInt();
  const int64_t to = args[1]->AsInt();
  const int64_t step = args.size() == 3 ? args[2]->AsInt() : 1;
  Value series = Value::EmptyArray();
  if (step == 0) return series;
  const auto distance = static_cast<__int128>(to) - from;
  if ((distance < 0) != (step < 0) && distance != 0) return series;
  const __int128 count = distance / step + 1;
  if (count > kMaxSeries) {
    context.Fail(
        QueryError(QueryCode::kTooLarge, "GENERATE_SERIES makes at most {} rows", kMaxSeries));
    return nullptr;
  }
  if (!context.Allow(static_cast<size_t>(count) * kSeriesItemBytes)) return nullptr;
  std::vector<Value> rows;
  rows.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < static_cast<int64_t>(count); ++i) {
    rows.push_back(Value::Object({{"value", from + i * step}}));
  }
  return Value::Array(std::move(rows));
}

std::string ShownText(const Value& value) {
  if (value.is_null() || value.is_missing()) return "";
  if (value.is_string()) return std::string(value.AsString());
  if (value.is_datetime()) {
    const json::Datetime moment = value.AsDatetime();
    return db::FormatDatetime(moment, "UTC", moment.us % 1000 == 0 ? 3 : 6);
  }
  if (value.is_interval()) return db::FormatInterval(value.AsInterval());
  return json::ToText(value);
}

// One conversion of PRINTF: %[flags][width][.precision]letter.
struct Directive {
  std::string flags;
  int width = 0;
  int precision = -1;
  char letter = 0;
};

class Printf {
 public:
  Printf(std::string_view format, Args args) : format_(format), args_(args) {}

  // Nothing for a format that is malformed.
  std::optional<std::string> Run() {
    while (at_ < format_.size()) {
      if (format_[at_] != '%') {
        out_ += format_[at_++];
        continue;
      }
      ++at_;
      const auto directive = Read();
      if (!directive || !Print(*directive)) return std::nullopt;
    }
    return std::move(out_);
  }

 private:
  std::optional<int> Number() {
    int number = 0;
    while (at_ < format_.size() && format_[at_] >= '0' && format_[at_] <= '9') {
      number = number * 10 + (format_[at_++] - '0');
      if (number > kMaxWidth) return std::nullopt;
    }
    return number;
  }

  std::optional<Directive> Read() {
    Directive directive;
    constexpr std::string_view kFlags = "-+ 0#";
    while (at_ < format_.size() && kFlags.find(format_[at_]) != std::string_view::npos) {
      directive.flags += format_[at_++];
    }
    const auto width = Number();
    if (!width) return std::nullopt;
    directive.width = *width;
    if (at_ < format_.size() && format_[at_] == '.') {
      ++at_;
      const auto precision = Number();
      if (!precision) return std::nullopt;
      directive.precision = *precision;
    }
    while (at_ < format_.size() && format_[at_] == 'l') ++at_;
    if (at_ == format_.size()) return std::nullopt;
    directive.letter = format_[at_++];
    return directive;
  }

  // NULL for an argument that is not there.
  const Value& Next() {
    static const Value null = nullptr;
    return next_ < args_.size() ? *args_[next_++] : null;
  }

  static double NumberOf(const Value& value) {
    if (value.is_number()) return value.ToDouble();
    return value.is_string() ? std::strtod(std::string(value.AsString()).c_str(), nullptr) : 0;
  }

  static int64_t WholeOf(const Value& value) {
    if (value.is_int()) return value.AsInt();
    const double number = std::trunc(NumberOf(value));
    return number >= -0x1p63 && number < 0x1p63 ? static_cast<int64_t>(number) : 0;
  }

  bool Print(const Directive& directive) {
    switch (directive.letter) {
      case '%':
        out_ += '%';
        return true;
      case 'd':
      case 'i':
        return Formatted(directive, "lld", static_cast<long long>(WholeOf(Next())));
      case 'u':
      case 'x':
      case 'X':
      case 'o': {
        const char letters[] = {'l', 'l', directive.letter, 0};
        return Formatted(directive, letters, static_cast<long long>(WholeOf(Next())));
      }
      case 'f':
      case 'e':
      case 'E':
      case 'g':
      case 'G': {
        const char letters[] = {directive.letter, 0};
        return Formatted(directive, letters, NumberOf(Next()));
      }
      case 's':
      case 'z':
        return Text(directive, ShownText(Next()));
      case 'q':
      case 'Q':
        return Quoted(directive);
      case 'c': {
        const std::string text = ShownText(Next());
        return Text(directive, text.substr(0, 1));
      }
      default:
        return false;
    }
  }

  template <typename T>
  bool Formatted(const Directive& directive, const char* letters, T value) {
    std::string format = "%" + directive.flags;
    if (directive.width > 0) format += std::to_string(directive.width);
    if (directive.precision >= 0) format += "." + std::to_string(directive.precision);
    format += letters;
    const int size = snprintf(nullptr, 0, format.c_str(), value);
    if (size < 0) return false;
    std::string text(static_cast<size_t>(size) + 1, '\0');
    snprintf(text.data(), text.size(), format.c_str(), value);
    text.pop_back();
    out_ += text;
    return true;
  }

  bool Text(const Directive& directive, std::string text) {
    if (directive.precision >= 0) text = text.substr(0, static_cast<size_t>(directive.precision));
    const auto width = static_cast<size_t>(directive.width);
    const std::string blanks(width > text.size() ? width - text.size() : 0, ' ');
    const bool left = directive.flags.find('-') != std::string::npos;
    out_ += left ? text + blanks : blanks + text;
    return true;
  }

  // %q doubles single quotes; %Q puts them around, and prints NULL for a NULL.
  bool Quoted(const Directive& directive) {
    const Value& value = Next();
    if (directive.letter == 'Q' && value.is_null()) return Text(directive, "NULL");
    std::string text;
    for (const char c : ShownText(value)) text += c == '\'' ? "''" : std::string(1, c);
    return Text(directive, directive.letter == 'Q' ? "'" + text + "'" : text);
  }

  const std::string_view format_;
  const Args args_;
  size_t at_ = 0;
  size_t next_ = 0;
  std::string out_;
};

Value PrintfFunction(FunctionContext& context, Args args) {
  if (!args[0]->is_string()) return nullptr;
  auto text = Printf(args[0]->AsString(), args.subspan(1)).Run();
  if (!text || !context.Allow(text->size())) return nullptr;
  return Value(*text);
}

constexpr ScalarFunction kTableFunctions[] = {
    {kColumnValueFunction, 2, 3, ColumnValue, Unknowns::kSeen},
    {kComparedValueFunction, 2, 2, ComparedValue, Unknowns::kSeen},
    {kStoredValueFunction, 3, 3, StoredValue, Unknowns::kSeen},
    {"generate_series", 2, 3, GenerateSeries},
    {"now", 0, 1, Now, Unknowns::kPropagate, Volatility::kStatement},
    {"printf", 1, kAnyNumber, PrintfFunction, Unknowns::kSeen},
};

}  // namespace

FunctionFamily TableFunctions() { return {kTableFunctions, {}}; }

}  // namespace sluice::query
