#include <cmath>
#include <limits>

#include "json/compare.h"
#include "query/functions/arguments.h"
#include "query/functions/comparison.h"
#include "query/functions/function.h"

namespace sluice::query {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The first argument that is `wanted`, else NULL.
template <typename Wanted>
Value First(Args args, Wanted wanted) {
  for (const Value* arg : args) {
    if (wanted(*arg)) return *arg;
  }
  return nullptr;
}

Value IfMissing(FunctionContext&, Args args) {
  return First(args, [](const Value& value) { return !value.is_missing(); });
}
Value IfMissingOrNull(FunctionContext&, Args args) { return First(args, IsKnown); }
// May be MISSING.
Value IfNull(FunctionContext&, Args args) {
  return First(args, [](const Value& value) { return !value.is_null(); });
}

Value Nvl(FunctionContext&, Args args) { return IsKnown(*args[0]) ? *args[0] : *args[1]; }
Value Nvl2(FunctionContext&, Args args) { return IsKnown(*args[0]) ? *args[1] : *args[2]; }

// `replacement` when the two arguments are equal, else the first. Unknown when that is unknown.
Value ReplaceIfEqual(Args args, Value replacement) {
  Value equal = CompareEq(*args[0], *args[1]);
  if (!equal.is_bool()) return equal;
  return equal.AsBool() ? replacement : *args[0];
}

Value MissingIf(FunctionContext&, Args args) { return ReplaceIfEqual(args, Value()); }
Value NullIf(FunctionContext&, Args args) { return ReplaceIfEqual(args, nullptr); }
Value NanIf(FunctionContext&, Args args) {
  return ReplaceIfEqual(args, std::numeric_limits<double>::quiet_NaN());
}
Value NegativeInfinityIf(FunctionContext&, Args args) { return ReplaceIfEqual(args, -kInfinity); }
Value PositiveInfinityIf(FunctionContext&, Args args) { return ReplaceIfEqual(args, kInfinity); }

// The first number that is not `excluded`; MISSING is passed over, anything else gives NULL.
template <typename Excluded>
Value FirstNumber(Args args, Excluded excluded) {
  for (const Value* arg : args) {
    if (arg->is_missing()) continue;
    if (!arg->is_number()) return nullptr;
    if (!excluded(arg->ToDouble())) return *arg;
  }
  return nullptr;
}

Value IfInf(FunctionContext&, Args args) {
  return FirstNumber(args, [](double number) { return std::isinf(number); });
}
Value IfNan(FunctionContext&, Args args) {
  return FirstNumber(args, [](double number) { return std::isnan(number); });
}
Value IfNanOrInf(FunctionContext&, Args args) {
  return FirstNumber(args, [](double number) { return !std::isfinite(number); });
}

// DECODE(value, search, result, ..., [default]); NULL finds NULL.
Value Decode(FunctionContext&, Args args) {
  size_t at = 1;
  for (; at + 1 < args.size(); at += 2) {
    if (json::Equal(*args[0], *args[at])) return *args[at + 1];
  }
  return at < args.size() ? *args[at] : Value(nullptr);
}

constexpr ScalarFunction kConditionalFunctions[] = {
    {"if_missing", 2, kAnyNumber, IfMissing, Unknowns::kSeen},
    {"if_missing_or_null", 2, kAnyNumber, IfMissingOrNull, Unknowns::kSeen},
    {"if_null", 2, kAnyNumber, IfNull, Unknowns::kSeen},
    {"missing_if", 2, 2, MissingIf, Unknowns::kSeen},
    {"null_if", 2, 2, NullIf, Unknowns::kSeen},
    {"nvl", 2, 2, Nvl, Unknowns::kSeen},
    {"nvl2", 3, 3, Nvl2, Unknowns::kSeen},
    {"if_inf", 2, kAnyNumber, IfInf, Unknowns::kSeen},
    {"if_nan", 2, kAnyNumber, IfNan, Unknowns::kSeen},
    {"if_nan_or_inf", 2, kAnyNumber, IfNanOrInf, Unknowns::kSeen},
    {"nan_if", 2, 2, NanIf, Unknowns::kSeen},
    {"neginf_if", 2, 2, NegativeInfinityIf, Unknowns::kSeen},
    {"posinf_if", 2, 2, PositiveInfinityIf, Unknowns::kSeen},
    {"decode", 3, kAnyNumber, Decode, Unknowns::kSeen},
};

constexpr FunctionAlias kConditionalAliases[] = {
    {"ifmissing", "if_missing"},
    {"ifmissingornull", "if_missing_or_null"},
    {"coalesce", "if_missing_or_null"},
    {"ifnull", "if_null"},
    {"missingif", "missing_if"},
    {"nullif", "null_if"},
    {"ifinf", "if_inf"},
    {"ifnan", "if_nan"},
    {"ifnanorinf", "if_nan_or_inf"},
    {"nanif", "nan_if"},
    {"neginfif", "neginf_if"},
    {"posinfif", "posinf_if"},
};

}  // namespace

FunctionFamily ConditionalFunctions() { return {kConditionalFunctions, kConditionalAliases}; }

}  // namespace sluice::query
