#include <cmath>
#include <limits>
#include <numbers>

#include "base/random.h"
#include "query/functions/arithmetic.h"
#include "query/functions/function.h"

namespace sluice::query {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A function of one number.
template <double (*Of)(double)>
Value OfNumber(FunctionContext&, Args args) {
  return args[0]->is_number() ? NumberOf(Of(args[0]->ToDouble())) : Value(nullptr);
}

// The same where a whole number is its own result.
template <double (*Of)(double)>
Value ToWhole(FunctionContext& context, Args args) {
  return args[0]->is_int() ? *args[0] : OfNumber<Of>(context, args);
}

double Acos(double x) { return std::acos(x); }
double Asin(double x) { return std::asin(x); }
double Atan(double x) { return std::atan(x); }
double Ceil(double x) { return std::ceil(x); }
double Cos(double x) { return std::cos(x); }
double Degrees(double x) { return x * 180 / std::numbers::pi; }
double Exp(double x) { return std::exp(x); }
double Floor(double x) { return std::floor(x); }
double Ln(double x) { return std::log(x); }
double Log(double x) { return std::log10(x); }
double Radians(double x) { return x * std::numbers::pi / 180; }
double Sign(double x) { return x < 0 ? -1 : x > 0 ? 1 : 0; }
double Sin(double x) { return std::sin(x); }
double Sqrt(double x) { return std::sqrt(x); }
double Tan(double x) { return std::tan(x); }

Value Abs(FunctionContext&, Args args) {
  const Value& value = *args[0];
  if (!value.is_number()) return nullptr;
  return value.ToDouble() < 0 ? Negate(value) : value;
}

Value Atan2(FunctionContext&, Args args) {
  if (!args[0]->is_number() || !args[1]->is_number()) return nullptr;
  return NumberOf(std::atan2(args[0]->ToDouble(), args[1]->ToDouble()));
}

template <double kConstant>
Value Constant(FunctionContext&, Args) {
  return kConstant;
}

Value Nan(FunctionContext&, Args) { return std::numeric_limits<double>::quiet_NaN(); }

// Digits behind which a double has nothing to round, and before which it has nothing left.
constexpr int64_t kMaxDigits = 308;

// Applies `round` to the number as if its point were behind the digit that the second argument
// names: the second after the point for 2, the hundreds for -2.
template <double (*Round)(double)>
Value RoundAt(FunctionContext&, Args args) {
  if (!args[0]->is_number()) return nullptr;
  int64_t digits = 0;
  if (args.size() > 1) {
    const auto given = WholeNumber(*args[1]);
    if (!given) return nullptr;
    digits = *given;
  }
  if (args[0]->is_int() && digits >= 0) return *args[0];
  const double number = args[0]->ToDouble();
  if (!std::isfinite(number) || digits > kMaxDigits) return NumberOf(number);
  if (digits < -kMaxDigits) return 0;
  const double power = std::pow(10, static_cast<double>(std::abs(digits)));
  if (digits < 0) return NumberOf(Round(number / power) * power);
  const double scaled = number * power;
  return NumberOf(std::isfinite(scaled) ? Round(scaled) / power : number);
}

double ToEven(double x) {
  const double below = std::floor(x);
  const double rest = x - below;
  if (rest != 0.5) return rest < 0.5 ? below : below + 1;
  return std::fmod(below, 2) == 0 ? below : below + 1;
}

double AwayFromZero(double x) { return std::round(x); }
double TowardsZero(double x) { return std::trunc(x); }

// At least 0 and below 1. The same seed gives the same number.
Value RandomNumber(FunctionContext& context, Args args) {
  uint64_t bits = 0;
  if (args.empty()) {
    bits = context.Random();
  } else {
    const auto seed = WholeNumber(*args[0]);
    if (!seed) return nullptr;
    bits = Random(static_cast<uint64_t>(*seed)).Next();
  }
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

constexpr ScalarFunction kNumberFunctions[] = {
    {"abs", 1, 1, Abs},
    {"acos", 1, 1, OfNumber<Acos>},
    {"asin", 1, 1, OfNumber<Asin>},
    {"atan", 1, 1, OfNumber<Atan>},
    {"atan2", 2, 2, Atan2},
    {"ceil", 1, 1, ToWhole<Ceil>},
    {"cos", 1, 1, OfNumber<Cos>},
    {"deg", 1, 1, OfNumber<Degrees>},
    {"e", 0, 0, Constant<std::numbers::e>},
    {"exp", 1, 1, OfNumber<Exp>},
    {"floor", 1, 1, ToWhole<Floor>},
    {"inf", 0, 0, Constant<kInfinity>},
    {"ln", 1, 1, OfNumber<Ln>},
    {"log", 1, 1, OfNumber<Log>},
    {"nan", 0, 0, Nan},
    {"neginf", 0, 0, Constant<-kInfinity>},
    {"pi", 0, 0, Constant<std::numbers::pi>},
    {"rad", 1, 1, OfNumber<Radians>},
    {"random", 0, 1, RandomNumber, Unknowns::kPropagate, Volatility::kVolatile},
    {"round", 1, 2, RoundAt<ToEven>},
    {"round_nearest", 1, 2, RoundAt<AwayFromZero>},
    {"sign", 1, 1, OfNumber<Sign>},
    {"sin", 1, 1, OfNumber<Sin>},
    {"sqrt", 1, 1, OfNumber<Sqrt>},
    {"tan", 1, 1, OfNumber<Tan>},
    {"trunc", 1, 2, RoundAt<TowardsZero>},
};

constexpr FunctionAlias kNumberAliases[] = {
    {"degrees", "deg"}, {"radians", "rad"}, {"round_even", "round"},
    {"posinf", "inf"},  {"pos_inf", "inf"}, {"neg_inf", "neginf"},
};

}  // namespace

FunctionFamily NumberFunctions() { return {kNumberFunctions, kNumberAliases}; }

}  // namespace sluice::query
