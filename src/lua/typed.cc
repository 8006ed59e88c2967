// Typed values: NULL, blob, datetime, interval and decimal, all userdata with one metatable.
#include <cmath>
#include <new>
#include <string>

#include "json/compare.h"
#include "lua/decimal_math.h"
#include "lua/state.h"
#include "lua/values.h"

namespace sluice::lua {
namespace {

constexpr char kMetatable[] = "sluice.typed";
constexpr int64_t kMonthsPerYear = 12;

// An operand of an operator: a typed value, or a number or string of Lua.
Value Operand(lua_State* lua, int index) {
  if (const Typed* typed = TestTyped(lua, index)) return typed->value;
  if (lua_isinteger(lua, index)) return Value(int64_t{lua_tointeger(lua, index)});
  if (lua_type(lua, index) == LUA_TNUMBER) return Value(double{lua_tonumber(lua, index)});
  return Value();
}

std::string_view KindOf(lua_State* lua, int index) {
  const Typed* const typed = TestTyped(lua, index);
  if (typed == nullptr) return luaL_typename(lua, index);
  if (typed->value.is_null()) return "NULL";
  const auto type = DataTypeOf(typed->value);
  return type ? NameOf(*type) : "value";
}

void CheckNoNull(lua_State* lua) {
  for (const int index : {1, 2}) {
    const Typed* const typed = TestTyped(lua, index);
    if (typed != nullptr && typed->value.is_null()) {
      RaiseText(lua, "attempt to perform arithmetic on a NULL value");
    }
  }
}

std::optional<Value> DecimalResult(char operation, const Value& a, const Value& b) {
  const auto x = DecimalOf(a);
  const auto y = DecimalOf(b);
  if (!x || !y) return std::nullopt;
  std::optional<Decimal> result;
  if (operation == '+') result = Add(*x, *y);
  if (operation == '-') result = Subtract(*x, *y);
  if (operation == '*') result = Multiply(*x, *y);
  if (operation == '/') result = Divide(*x, *y);
  return result ? std::optional<Value>(*result) : std::nullopt;
}

// The same day of another month, or that month's last.
json::Datetime AddMonths(json::Datetime datetime, int64_t months, const Zone& zone) {
  DatetimeFields fields = FieldsOf(datetime, zone);
  const int64_t all = fields.year * kMonthsPerYear + fields.month - 1 + months;
  fields.year = all / kMonthsPerYear - (all % kMonthsPerYear < 0 ? 1 : 0);
  fields.month = (all % kMonthsPerYear + kMonthsPerYear) % kMonthsPerYear + 1;
  for (; fields.day > 28; --fields.day) {
    if (const auto found = DatetimeOf(fields, zone)) return *found;
  }
  return DatetimeOf(fields, zone).value_or(datetime);
}

std::optional<Value> DatetimeResult(char operation, const Value& a, const Value& b,
                                    const Zone& zone) {
  int64_t result = 0;
  if (operation == '-' && a.is_datetime() && b.is_datetime()) {
    if (__builtin_sub_overflow(a.AsDatetime().us, b.AsDatetime().us, &result)) return std::nullopt;
    return Value(json::Interval{.kind = json::Interval::Kind::kDaySecond, .amount = result});
  }
  const Value& datetime = a.is_datetime() ? a : b;
  const Value& other = a.is_datetime() ? b : a;
  if (!other.is_interval() || (operation != '+' && (operation != '-' || !a.is_datetime()))) {
    return std::nullopt;
  }
  const json::Interval interval = other.AsInterval();
  if (interval.amount == INT64_MIN) return std::nullopt;
  const int64_t amount = operation == '-' ? -interval.amount : interval.amount;
  if (interval.kind == json::Interval::Kind::kYearMonth) {
    constexpr int64_t kMostMonths = 120'000;
    if (amount > kMostMonths || amount < -kMostMonths) return std::nullopt;
    return Value(AddMonths(datetime.AsDatetime(), amount, zone));
  }
  if (__builtin_add_overflow(datetime.AsDatetime().us, amount, &result)) return std::nullopt;
  return Value(json::Datetime{result});
}

std::optional<Value> IntervalResult(char operation, const Value& a, const Value& b) {
  int64_t result = 0;
  const json::Interval x = (a.is_interval() ? a : b).AsInterval();
  if (a.is_interval() && b.is_interval()) {
    const json::Interval y = b.AsInterval();
    const bool overflow = operation == '+' ? __builtin_add_overflow(x.amount, y.amount, &result)
                                           : __builtin_sub_overflow(x.amount, y.amount, &result);
    if (overflow || x.kind != y.kind || (operation != '+' && operation != '-')) return std::nullopt;
    return Value(json::Interval{.kind = x.kind, .amount = result});
  }
  const Value& factor = a.is_interval() ? b : a;
  const bool divides = operation == '/' && a.is_interval();
  if (!factor.is_number() || (operation != '*' && !divides)) return std::nullopt;
  const double by = factor.ToDouble();
  const double product =
      divides ? static_cast<double>(x.amount) / by : static_cast<double>(x.amount) * by;
  if (!(std::abs(product) < 9e18)) return std::nullopt;
  return Value(json::Interval{.kind = x.kind, .amount = std::llround(product)});
}

template <char operation>
int Arithmetic(lua_State* lua) {
  CheckNoNull(lua);
  const Value a = Operand(lua, 1);
  const Value b = Operand(lua, 2);
  std::optional<Value> result;
  const Typed* const first = TestTyped(lua, 1);
  const Zone zone = first != nullptr ? first->zone : Zone{};
  if (a.is_datetime() || b.is_datetime()) {
    result = DatetimeResult(operation, a, b, zone);
  } else if (a.is_interval() || b.is_interval()) {
    result = IntervalResult(operation, a, b);
  } else if (a.is_number() && b.is_number()) {
    result = DecimalResult(operation, a, b);
  }
  if (!result) {
    RaiseText(lua, fmt::format("no result of {} {} {}", KindOf(lua, 1), operation, KindOf(lua, 2)));
  }
  PushValue(lua, *result);
  if (Typed* made = TestTyped(lua, -1); made != nullptr && first != nullptr) {
    made->zone = first->zone;
    made->digits = first->digits;
  }
  return 1;
}

int Minus(lua_State* lua) {
  const Value value = Operand(lua, 1);
  if (value.is_null()) RaiseText(lua, "attempt to perform arithmetic on a NULL value");
  if (value.is_decimal()) {
    PushTyped(lua, Value(Negate(value.AsDecimal())));
  } else if (value.is_interval() && value.AsInterval().amount != INT64_MIN) {
    json::Interval interval = value.AsInterval();
    interval.amount = -interval.amount;
    PushTyped(lua, Value(interval));
  } else {
    RaiseText(lua, fmt::format("attempt to negate a {} value", KindOf(lua, 1)));
  }
  return 1;
}

int Equal(lua_State* lua) {
  const Typed* const a = TestTyped(lua, 1);
  const Typed* const b = TestTyped(lua, 2);
  lua_pushboolean(lua, a != nullptr && b != nullptr && a->value == b->value ? 1 : 0);
  return 1;
}

template <bool or_equal>
int Less(lua_State* lua) {
  const Value a = Operand(lua, 1);
  const Value b = Operand(lua, 2);
  if (a.is_null() || b.is_null()) RaiseText(lua, "attempt to compare a NULL value");
  const bool comparable = (a.is_number() && b.is_number()) ||
                          (!a.is_missing() && !b.is_missing() && DataTypeOf(a) == DataTypeOf(b));
  if (!comparable) {
    RaiseText(lua, fmt::format("attempt to compare {} with {}", KindOf(lua, 1), KindOf(lua, 2)));
  }
  const auto order = json::Compare(a, b);
  lua_pushboolean(lua, order < 0 || (or_equal && order == 0) ? 1 : 0);
  return 1;
}

int Concatenate(lua_State* lua) {
  std::string text;
  for (const int index : {1, 2}) {
    const Typed* const typed = TestTyped(lua, index);
    if (typed != nullptr && typed->value.is_null()) {
      RaiseText(lua, "attempt to concatenate a NULL value");
    }
    if (typed != nullptr) {
      text += typed->Text();
    } else if (lua_isstring(lua, index)) {
      size_t length = 0;
      const char* const part = lua_tolstring(lua, index, &length);
      text.append(part, length);
    } else {
      RaiseText(lua, fmt::format("attempt to concatenate a {} value", KindOf(lua, index)));
    }
  }
  lua_pushlstring(lua, text.data(), text.size());
  return 1;
}

int ToText(lua_State* lua) {
  const Typed* const typed = TestTyped(lua, 1);
  if (typed == nullptr) RaiseText(lua, "no typed value");
  const std::string text = typed->Text();
  lua_pushlstring(lua, text.data(), text.size());
  return 1;
}

int Length(lua_State* lua) {
  const Typed* const typed = TestTyped(lua, 1);
  if (typed == nullptr || !typed->value.is_bytes()) {
    RaiseText(lua, fmt::format("attempt to get length of a {} value", KindOf(lua, 1)));
  }
  lua_pushinteger(lua, static_cast<lua_Integer>(typed->value.AsBytes().size()));
  return 1;
}

void SetField(lua_State* lua, const char* name, int64_t value) {
  lua_pushinteger(lua, value);
  lua_setfield(lua, -2, name);
}

void PushDatetimeTable(lua_State* lua, const Typed& typed) {
  const DatetimeFields fields = FieldsOf(typed.value.AsDatetime(), typed.zone);
  lua_createtable(lua, 0, 12);
  SetField(lua, "year", fields.year);
  SetField(lua, "month", fields.month);
  SetField(lua, "day", fields.day);
  SetField(lua, "yday", fields.yday);
  SetField(lua, "wday", fields.wday);
  SetField(lua, "hour", fields.hour);
  SetField(lua, "min", fields.min);
  SetField(lua, "sec", fields.sec);
  SetField(lua, typed.digits == 6 ? "usec" : "msec",
           typed.digits == 6 ? fields.usec : fields.usec / 1000);
  lua_pushboolean(lua, fields.isdst ? 1 : 0);
  lua_setfield(lua, -2, "isdst");
  const std::string zone = typed.zone.name();
  lua_pushlstring(lua, zone.data(), zone.size());
  lua_setfield(lua, -2, "timezone");
}

Typed& CheckDatetime(lua_State* lua) {
  Typed* const typed = TestTyped(lua, 1);
  if (typed == nullptr || !typed->value.is_datetime()) RaiseText(lua, "expected a datetime");
  return *typed;
}

int ToTable(lua_State* lua) {
  PushDatetimeTable(lua, CheckDatetime(lua));
  return 1;
}

int ChangeTimeZone(lua_State* lua) {
  Typed& typed = CheckDatetime(lua);
  const auto zone = Zone::Named(luaL_checkstring(lua, 2));
  if (!zone) RaiseText(lua, fmt::format("there is no time zone '{}'", luaL_checkstring(lua, 2)));
  typed.zone = *zone;
  lua_settop(lua, 1);
  return 1;
}

// 'msec' or 'usec', or the number of digits.
int ChangePrecision(lua_State* lua) {
  Typed& typed = CheckDatetime(lua);
  const std::string_view wanted = luaL_checkstring(lua, 2);
  const bool fine = wanted == "usec" || wanted == "microsecond" || wanted == "6";
  if (!fine && wanted != "msec" && wanted != "millisecond" && wanted != "3") {
    RaiseText(lua, "expected the precision 'msec' or 'usec'");
  }
  typed.digits = fine ? 6 : 3;
  lua_settop(lua, 1);
  return 1;
}

bool PushDatetimeField(lua_State* lua, const Typed& typed, std::string_view name) {
  if (name == "to_table") {
    lua_pushcfunction(lua, ToTable);
  } else if (name == "change_timezone") {
    lua_pushcfunction(lua, ChangeTimeZone);
  } else if (name == "change_datetime_precision") {
    lua_pushcfunction(lua, ChangePrecision);
  } else if (name == "msec" || name == "usec") {
    const int64_t usec = FieldsOf(typed.value.AsDatetime(), typed.zone).usec;
    lua_pushinteger(lua, name == "usec" ? usec : usec / 1000);
  } else {
    PushDatetimeTable(lua, typed);
    lua_pushlstring(lua, name.data(), name.size());
    lua_rawget(lua, -2);
    return !lua_isnil(lua, -1);
  }
  return true;
}

bool PushIntervalField(lua_State* lua, const json::Interval& interval, std::string_view name) {
  struct Part {
    std::string_view name;
    json::Interval::Kind kind;
    int64_t unit;
    int64_t wrap;  // 0: none
  };
  constexpr auto kYm = json::Interval::Kind::kYearMonth;
  constexpr auto kDs = json::Interval::Kind::kDaySecond;
  constexpr Part kParts[] = {{"years", kYm, 12, 0},
                             {"months", kYm, 1, 12},
                             {"days", kDs, 86'400'000'000, 0},
                             {"hours", kDs, 3'600'000'000, 24},
                             {"mins", kDs, 60'000'000, 60},
                             {"secs", kDs, 1'000'000, 60},
                             {"msecs", kDs, 1000, 1000},
                             {"usecs", kDs, 1, 1'000'000}};
  for (const Part& part : kParts) {
    if (part.name != name || part.kind != interval.kind) continue;
    const int64_t all = interval.amount / part.unit;
    lua_pushinteger(lua, part.wrap == 0 ? all : all % part.wrap);
    return true;
  }
  return false;
}

int TypedLength(lua_State* lua) { return Length(lua); }

int Index(lua_State* lua) {
  const Typed* const typed = TestTyped(lua, 1);
  size_t length = 0;
  const char* const text = luaL_checklstring(lua, 2, &length);
  const std::string_view name(text, length);
  bool found = false;
  if (typed == nullptr) return 0;
  if (typed->value.is_null()) RaiseText(lua, "attempt to index a NULL value");
  if (typed->value.is_datetime()) found = PushDatetimeField(lua, *typed, name);
  if (typed->value.is_interval()) found = PushIntervalField(lua, typed->value.AsInterval(), name);
  if (typed->value.is_bytes() && (name == "length" || name == "len")) {
    lua_pushcfunction(lua, TypedLength);
    found = true;
  }
  if (!found) RaiseText(lua, fmt::format("a {} has no field '{}'", KindOf(lua, 1), name));
  return 1;
}

int NewIndex(lua_State* lua) {
  RaiseText(lua, fmt::format("the fields of a {} can't be set", KindOf(lua, 1)));
}

int Collect(lua_State* lua) {
  Typed* const typed = static_cast<Typed*>(lua_touserdata(lua, 1));
  State::Of(lua).ReleaseBytes(typed->held_bytes);
  typed->~Typed();
  return 0;
}

}  // namespace

void OpenTyped(lua_State* lua) {
  constexpr luaL_Reg kMethods[] = {
      {"__index", Index},         {"__newindex", NewIndex},   {"__eq", Equal},
      {"__lt", Less<false>},      {"__le", Less<true>},       {"__add", Arithmetic<'+'>},
      {"__sub", Arithmetic<'-'>}, {"__mul", Arithmetic<'*'>}, {"__div", Arithmetic<'/'>},
      {"__mod", Arithmetic<'%'>}, {"__pow", Arithmetic<'^'>}, {"__idiv", Arithmetic<':'>},
      {"__unm", Minus},           {"__concat", Concatenate},  {"__tostring", ToText},
      {"__len", Length},          {"__gc", Collect},          {nullptr, nullptr}};
  luaL_newmetatable(lua, kMetatable);
  luaL_setfuncs(lua, kMethods, 0);
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_pop(lua, 1);
}

Typed* TestTyped(lua_State* lua, int index) {
  return static_cast<Typed*>(luaL_testudata(lua, index, kMetatable));
}

void PushTyped(lua_State* lua, const Value& value) {
  State& state = State::Of(lua);
  const uint64_t bytes = value.is_bytes() ? value.AsBytes().size() : 0;
  state.HoldBytes(lua, bytes);
  void* memory = nullptr;
  try {
    memory = lua_newuserdatauv(lua, sizeof(Typed), 0);
  } catch (...) {  // Lua's error of memory, which passes through
    state.ReleaseBytes(bytes);
    throw;
  }
  new (memory) Typed{.value = value,
                     .null_type = std::nullopt,
                     .zone = state.zone,
                     .digits = state.datetime_digits,
                     .held_bytes = bytes};
  luaL_setmetatable(lua, kMetatable);
}

void PushNull(lua_State* lua, std::optional<DataType> type) {
  PushTyped(lua, Value(nullptr));
  TestTyped(lua, -1)->null_type = type;
}

}  // namespace sluice::lua
