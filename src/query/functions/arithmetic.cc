#include "query/functions/arithmetic.h"

#include <cmath>
#include <limits>

#include "json/decimal.h"
#include "query/functions/function.h"
#include "query/functions/temporal.h"

namespace sluice::query {
namespace {

using json::Decimal;
using Wide = unsigned __int128;

constexpr double kTwoTo63 = 9223372036854775808.0;

Value Unknown(const Value& a, const Value& b) {
  return a.is_missing() || b.is_missing() ? Value() : Value(nullptr);
}

// A datetime or interval, and another or a number.
bool AreTemporal(const Value& a, const Value& b) {
  return (IsTemporal(a) && (IsTemporal(b) || b.is_number())) || (a.is_number() && IsTemporal(b));
}

// --- decimals ---

std::optional<Decimal> Exactly(const Value& value) {
  if (value.is_decimal()) return value.AsDecimal();
  if (!value.is_int()) return std::nullopt;
  const int64_t whole = value.AsInt();
  const auto magnitude = static_cast<uint64_t>(whole);
  return Decimal{whole < 0 ? -magnitude : magnitude, 0, whole < 0};
}

bool Fits(const Decimal& value) {
  static const Wide limit = [] {
    Wide power = 1;
    for (int i = 0; i < Decimal::kMaxDigits; ++i) power *= 10;
    return power;
  }();
  return value.coefficient < limit && value.exponent >= Decimal::kMinExponent &&
         value.exponent <= Decimal::kMaxExponent;
}

// Makes the exponent smaller without changing the value; false when it would not fit.
bool Rescale(Decimal* value, int32_t exponent) {
  while (value->exponent > exponent && value->coefficient != 0) {
    if (__builtin_mul_overflow(value->coefficient, Wide{10}, &value->coefficient)) return false;
    --value->exponent;
  }
  value->exponent = exponent;
  return true;
}

std::optional<Decimal> AddDecimals(Decimal a, Decimal b) {
  const int32_t exponent = std::min(a.exponent, b.exponent);
  if (!Rescale(&a, exponent) || !Rescale(&b, exponent)) return std::nullopt;
  if (a.negative == b.negative) {
    if (__builtin_add_overflow(a.coefficient, b.coefficient, &a.coefficient)) return std::nullopt;
  } else if (a.coefficient >= b.coefficient) {
    a.coefficient -= b.coefficient;
  } else {
    a.coefficient = b.coefficient - a.coefficient;
    a.negative = b.negative;
  }
  if (a.coefficient == 0) a.negative = false;
  return Fits(a) ? std::optional(a) : std::nullopt;
}

std::optional<Decimal> MultiplyDecimals(Decimal a, const Decimal& b) {
  if (__builtin_mul_overflow(a.coefficient, b.coefficient, &a.coefficient)) return std::nullopt;
  a.exponent += b.exponent;
  a.negative = a.coefficient != 0 && a.negative != b.negative;
  return Fits(a) ? std::optional(a) : std::nullopt;
}

template <typename Exact, typename Rounded>
Value ByKind(const Value& a, const Value& b, Exact exact, Rounded rounded) {
  if (!a.is_number() || !b.is_number()) return Unknown(a, b);
  if (a.is_decimal() || b.is_decimal()) {
    const auto left = Exactly(a);
    const auto right = Exactly(b);
    if (left && right) {
      if (const auto result = exact(*left, *right)) return Value(*result);
    }
  }
  return Value(rounded(a.ToDouble(), b.ToDouble()));
}

// --- functions ---

void WarnOfZero(FunctionContext& context) {
  context.Warn(QueryCode::kDivideByZero, "Division by 0.");
}

Value AddAll(FunctionContext&, Args args) {
  Value sum = *args[0];
  for (const Value* next : args.subspan(1)) sum = Add(sum, *next);
  return sum.is_number() || IsTemporal(sum) ? sum : Value(nullptr);
}

Value MultiplyAll(FunctionContext&, Args args) {
  Value product = *args[0];
  for (const Value* next : args.subspan(1)) product = Multiply(product, *next);
  return product.is_number() || IsTemporal(product) ? product : Value(nullptr);
}

Value Sub(FunctionContext&, Args args) { return Subtract(*args[0], *args[1]); }

Value Neg(FunctionContext&, Args args) { return Negate(*args[0]); }

Value Divide(FunctionContext& context, Args args) {
  if (args[0]->is_interval()) return DivideTemporal(*args[0], *args[1]);
  if (!args[1]->is_number()) return nullptr;
  const double divisor = args[1]->ToDouble();
  if (divisor == 0) {
    WarnOfZero(context);
    return nullptr;
  }
  if (!args[0]->is_number()) return nullptr;
  return args[0]->ToDouble() / divisor;
}

Value Mod(FunctionContext&, Args args) {
  if (!args[0]->is_number() || !args[1]->is_number()) return nullptr;
  if (args[0]->is_int() && args[1]->is_int()) {
    const int64_t divisor = args[1]->AsInt();
    if (divisor == 0) return nullptr;
    return divisor == -1 ? 0 : args[0]->AsInt() % divisor;
  }
  const double divisor = args[1]->ToDouble();
  if (divisor == 0) return nullptr;
  return std::fmod(args[0]->ToDouble(), divisor);
}

// Towards zero; none for NaN and for what no int64 can hold.
std::optional<int64_t> Truncated(const Value& value) {
  if (value.is_int()) return value.AsInt();
  return value.is_number() ? WholeNumber(std::trunc(value.ToDouble())) : std::nullopt;
}

enum class Part : uint8_t { kQuotient, kRemainder };

Value IntegerDivision(FunctionContext& context, Args args, Part part) {
  const auto dividend = Truncated(*args[0]);
  const auto divisor = Truncated(*args[1]);
  if (!dividend || !divisor) return nullptr;
  if (*divisor == 0) {
    if (part == Part::kQuotient) WarnOfZero(context);
    return nullptr;
  }
  if (*divisor == -1) return part == Part::kQuotient ? Negate(Value(*dividend)) : Value(0);
  return part == Part::kQuotient ? *dividend / *divisor : *dividend % *divisor;
}

Value IntegerQuotient(FunctionContext& context, Args args) {
  return IntegerDivision(context, args, Part::kQuotient);
}

Value IntegerRemainder(FunctionContext& context, Args args) {
  return IntegerDivision(context, args, Part::kRemainder);
}

Value Power(FunctionContext&, Args args) {
  if (!args[0]->is_number() || !args[1]->is_number()) return nullptr;
  return NumberOf(std::pow(args[0]->ToDouble(), args[1]->ToDouble()));
}

constexpr ScalarFunction kArithmeticFunctions[] = {
    {"add", 2, kAnyNumber, AddAll},
    {"sub", 2, 2, Sub},
    {"neg", 1, 1, Neg},
    {"mult", 2, kAnyNumber, MultiplyAll},
    {"divide", 2, 2, Divide},
    {"div", 2, 2, Divide},
    {"idiv", 2, 2, IntegerQuotient},
    {"mod", 2, 2, Mod},
    {"imod", 2, 2, IntegerRemainder},
    {"power", 2, 2, Power},
};

}  // namespace

Value Add(const Value& a, const Value& b) {
  if (a.is_int() && b.is_int()) {
    int64_t sum;
    if (!__builtin_add_overflow(a.AsInt(), b.AsInt(), &sum)) return sum;
  }
  if (AreTemporal(a, b)) return AddTemporal(a, b);
  return ByKind(a, b, AddDecimals, [](double x, double y) { return x + y; });
}

Value Subtract(const Value& a, const Value& b) {
  if (a.is_int() && b.is_int()) {
    int64_t difference;
    if (!__builtin_sub_overflow(a.AsInt(), b.AsInt(), &difference)) return difference;
  }
  if (AreTemporal(a, b)) return SubtractTemporal(a, b);
  const auto exact = [](const Decimal& x, Decimal y) {
    y.negative = !y.negative;
    return AddDecimals(x, y);
  };
  return ByKind(a, b, exact, [](double x, double y) { return x - y; });
}

Value Multiply(const Value& a, const Value& b) {
  if (a.is_int() && b.is_int()) {
    int64_t product;
    if (!__builtin_mul_overflow(a.AsInt(), b.AsInt(), &product)) return product;
  }
  if (a.is_interval() || b.is_interval()) return MultiplyTemporal(a, b);
  return ByKind(a, b, MultiplyDecimals, [](double x, double y) { return x * y; });
}

Value Negate(const Value& a) {
  if (a.is_decimal()) {
    Decimal negated = a.AsDecimal();
    negated.negative = negated.coefficient != 0 && !negated.negative;
    return negated;
  }
  return a.is_double() ? Value(-a.AsDouble()) : Subtract(Value(0), a);
}

std::optional<int64_t> WholeNumber(double value) {
  if (!(value >= -kTwoTo63 && value < kTwoTo63) || value != std::trunc(value)) return std::nullopt;
  return static_cast<int64_t>(value);
}

std::optional<int64_t> WholeNumber(const Value& value) {
  if (value.is_int()) return value.AsInt();
  return value.is_number() ? WholeNumber(value.ToDouble()) : std::nullopt;
}

Value NumberOf(double value) {
  const auto whole = WholeNumber(value);
  return whole ? Value(*whole) : Value(value);
}

FunctionFamily ArithmeticFunctions() { return {kArithmeticFunctions, {}}; }

}  // namespace sluice::query
