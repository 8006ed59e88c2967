#include "query/functions/temporal.h"

#include <chrono>
#include <cmath>

#include "query/functions/arithmetic.h"

namespace sluice::query {
namespace {

using json::Datetime;
using json::Interval;
using json::Value;
using Kind = Interval::Kind;

constexpr int64_t kMostMonths = 120'000;
constexpr int64_t kSecondUs = 1'000'000;
constexpr double kMostAmount = 9e18;

// The same day of another month, or that month's last.
Value AddMonths(Datetime datetime, int64_t months) {
  namespace chrono = std::chrono;
  if (months > kMostMonths || months < -kMostMonths) return nullptr;
  const chrono::sys_time<chrono::microseconds> moment{chrono::microseconds(datetime.us)};
  const auto day = chrono::floor<chrono::days>(moment);
  chrono::year_month_day date(day);
  if (!date.ok()) return nullptr;
  date += chrono::months(months);
  if (!date.ok()) date = date.year() / date.month() / chrono::last;
  const auto moved = chrono::sys_days(date) + (moment - day);
  return Datetime{chrono::duration_cast<chrono::microseconds>(moved.time_since_epoch()).count()};
}

Value Move(Datetime datetime, Interval interval) {
  if (interval.kind == Kind::kYearMonth) return AddMonths(datetime, interval.amount);
  int64_t moved = 0;
  if (__builtin_add_overflow(datetime.us, interval.amount, &moved)) return nullptr;
  return Datetime{moved};
}

// What a number means beside a datetime or an interval; other values are themselves.
Value IntervalBeside(const Value& number, const Value& other) {
  if (!number.is_number()) return number;
  const bool months = other.is_interval() && other.AsInterval().kind == Kind::kYearMonth;
  const double amount = number.ToDouble() * (months ? 1 : kSecondUs);
  if (!(std::abs(amount) < kMostAmount)) return nullptr;
  if (months) return Interval{.kind = Kind::kYearMonth, .amount = static_cast<int64_t>(amount)};
  // A whole number of seconds stays exact.
  const int64_t us = number.is_int() ? number.AsInt() * kSecondUs : std::llround(amount);
  return Interval{.kind = Kind::kDaySecond, .amount = us};
}

Value Negated(const Value& interval) {
  if (interval.is_number()) return Negate(interval);
  if (!interval.is_interval() || interval.AsInterval().amount == INT64_MIN) return nullptr;
  Interval negated = interval.AsInterval();
  negated.amount = -negated.amount;
  return negated;
}

}  // namespace

Value AddTemporal(const Value& left, const Value& right) {
  const Value a = IntervalBeside(left, right);
  const Value b = IntervalBeside(right, left);
  if (a.is_datetime() && b.is_interval()) return Move(a.AsDatetime(), b.AsInterval());
  if (a.is_interval() && b.is_datetime()) return Move(b.AsDatetime(), a.AsInterval());
  if (!a.is_interval() || !b.is_interval()) return nullptr;
  Interval sum = a.AsInterval();
  const Interval other = b.AsInterval();
  if (sum.kind != other.kind || __builtin_add_overflow(sum.amount, other.amount, &sum.amount)) {
    return nullptr;
  }
  return sum;
}

Value SubtractTemporal(const Value& a, const Value& b) {
  if (!a.is_datetime() || !b.is_datetime()) return AddTemporal(a, Negated(b));
  int64_t between = 0;
  if (__builtin_sub_overflow(a.AsDatetime().us, b.AsDatetime().us, &between)) return nullptr;
  return Interval{.kind = Kind::kDaySecond, .amount = between};
}

Value MultiplyTemporal(const Value& a, const Value& b) {
  const Value& interval = a.is_interval() ? a : b;
  const Value& factor = a.is_interval() ? b : a;
  if (!interval.is_interval() || !factor.is_number()) return nullptr;
  const double product = static_cast<double>(interval.AsInterval().amount) * factor.ToDouble();
  if (!(std::abs(product) < kMostAmount)) return nullptr;
  return Interval{.kind = interval.AsInterval().kind, .amount = std::llround(product)};
}

Value DivideTemporal(const Value& a, const Value& b) {
  if (!a.is_interval() || !b.is_number() || b.ToDouble() == 0) return nullptr;
  const double quotient = static_cast<double>(a.AsInterval().amount) / b.ToDouble();
  if (!(std::abs(quotient) < kMostAmount)) return nullptr;
  return Interval{.kind = a.AsInterval().kind, .amount = std::llround(quotient)};
}

}  // namespace sluice::query
