#include <cmath>
#include <limits>
#include <string>

#include "json/compare.h"
#include "query/functions/arguments.h"
#include "query/functions/comparison.h"
#include "query/functions/function.h"

namespace sluice::query {
namespace {

using json::Field;
using json::Type;

Value EqFunction(FunctionContext&, Args args) { return CompareEq(*args[0], *args[1]); }
Value LtFunction(FunctionContext&, Args args) { return CompareLess(*args[0], *args[1]); }
Value LeFunction(FunctionContext&, Args args) { return CompareLessEqual(*args[0], *args[1]); }
Value InFunction(FunctionContext&, Args args) { return In(*args[0], *args[1]); }
Value WithinFunction(FunctionContext&, Args args) { return Within(*args[0], *args[1]); }
Value NotFunction(FunctionContext&, Args args) { return Not(*args[0]); }

// False wins, then MISSING, then NULL.
Value AndFunction(FunctionContext&, Args args) {
  bool missing = false;
  bool null = false;
  for (const Value* arg : args) {
    missing |= arg->is_missing();
    null |= arg->is_null();
    if (!arg->is_missing() && !arg->is_null() && !Truth(*arg)) return false;
  }
  return missing ? Value() : null ? Value(nullptr) : Value(true);
}

// True wins, then NULL, then MISSING.
Value OrFunction(FunctionContext&, Args args) {
  bool missing = false;
  bool null = false;
  for (const Value* arg : args) {
    missing |= arg->is_missing();
    null |= arg->is_null();
    if (Truth(*arg)) return true;
  }
  return null ? Value(nullptr) : missing ? Value() : Value(false);
}

Value Between(FunctionContext&, Args args) {
  const Value above = CompareLessEqual(*args[1], *args[0]);
  const Value below = CompareLessEqual(*args[0], *args[2]);
  if (above.is_missing() || below.is_missing()) return Value();
  if (above.is_null() || below.is_null()) return nullptr;
  return above.AsBool() && below.AsBool();
}

Value IsNull(FunctionContext&, Args args) {
  return args[0]->is_missing() ? Value() : Value(args[0]->is_null());
}
Value IsNotNull(FunctionContext&, Args args) {
  return args[0]->is_missing() ? Value() : Value(!args[0]->is_null());
}
Value IsMissing(FunctionContext&, Args args) { return args[0]->is_missing(); }
Value IsNotMissing(FunctionContext&, Args args) { return !args[0]->is_missing(); }
Value IsValued(FunctionContext&, Args args) { return IsKnown(*args[0]); }
Value IsNotValued(FunctionContext&, Args args) { return !IsKnown(*args[0]); }
Value IsDistinct(FunctionContext&, Args args) { return !json::Equal(*args[0], *args[1]); }
Value IsNotDistinct(FunctionContext&, Args args) { return json::Equal(*args[0], *args[1]); }

Value Exists(FunctionContext&, Args args) {
  if (args[0]->is_missing()) return Value();
  return args[0]->is_array() ? Value(args[0]->size() > 0) : Value(nullptr);
}

enum class Extreme : uint8_t { kLeast, kGreatest };

bool Beats(std::strong_ordering order, Extreme end) {
  return end == Extreme::kLeast ? order < 0 : order > 0;
}

// The first or the last of the known values in the order.
Value Extreme(Args args, Extreme end) {
  const Value* best = nullptr;
  for (const Value* arg : args) {
    if (!IsKnown(*arg)) continue;
    if (best == nullptr || Beats(json::Compare(*arg, *best), end)) best = arg;
  }
  return best == nullptr ? Value(nullptr) : *best;
}

Value Greatest(FunctionContext&, Args args) { return Extreme(args, Extreme::kGreatest); }
Value Least(FunctionContext&, Args args) { return Extreme(args, Extreme::kLeast); }

Value NumberSuccessor(const Value& value) {
  if (value.is_int() && value.AsInt() < std::numeric_limits<int64_t>::max()) {
    return value.AsInt() + 1;
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double number = value.ToDouble();
  if (std::isnan(number)) return -kInfinity;
  if (value.is_int() || number >= std::numeric_limits<double>::max()) return "";
  return std::nextafter(number, kInfinity);
}

// The next value in the order, or one so near that nothing of use is between.
Value SuccessorOf(const Value& value) {
  switch (value.type()) {
    case Type::kMissing:
      return nullptr;
    case Type::kNull:
      return false;
    case Type::kBool:
      return value.AsBool() ? Value(-std::numeric_limits<double>::max()) : Value(true);
    case Type::kInt:
    case Type::kDouble:
    case Type::kDecimal:
      return NumberSuccessor(value);
    case Type::kString:
      return std::string(value.AsString()) + " ";
    case Type::kArray: {
      Value longer = value;
      if (value.size() == 0) {
        longer.Append(nullptr);
      } else {
        *longer.MutableItem(value.size() - 1) = SuccessorOf(value[value.size() - 1]);
      }
      return longer;
    }
    case Type::kObject: {
      Value longer = value;
      if (value.size() == 0) {
        longer.Set("", nullptr);
      } else {
        const Field* last = json::SortedFields(value).back();
        longer.Set(last->name(), SuccessorOf(last->value));
      }
      return longer;
    }
    case Type::kBytes:
      return Value::Bytes(std::string(value.AsBytes()) + " ");
    case Type::kDatetime:
    case Type::kInterval:
      return nullptr;
  }
  return nullptr;
}

Value Successor(FunctionContext&, Args args) { return SuccessorOf(*args[0]); }

constexpr ScalarFunction kComparisonFunctions[] = {
    {"eq", 2, 2, EqFunction},
    {"lt", 2, 2, LtFunction},
    {"le", 2, 2, LeFunction},
    {"between", 3, 3, Between, Unknowns::kSeen},
    {"in", 2, 2, InFunction, Unknowns::kSeen},
    {"within", 2, 2, WithinFunction, Unknowns::kSeen},
    {"exists", 1, 1, Exists, Unknowns::kSeen},
    {"and", 2, kAnyNumber, AndFunction, Unknowns::kSeen},
    {"or", 2, kAnyNumber, OrFunction, Unknowns::kSeen},
    {"not", 1, 1, NotFunction},
    {"is_null", 1, 1, IsNull, Unknowns::kSeen},
    {"is_not_null", 1, 1, IsNotNull, Unknowns::kSeen},
    {"is_missing", 1, 1, IsMissing, Unknowns::kSeen},
    {"is_not_missing", 1, 1, IsNotMissing, Unknowns::kSeen},
    {"is_valued", 1, 1, IsValued, Unknowns::kSeen},
    {"is_not_valued", 1, 1, IsNotValued, Unknowns::kSeen},
    {"is_distinct_from", 2, 2, IsDistinct, Unknowns::kSeen},
    {"is_not_distinct_from", 2, 2, IsNotDistinct, Unknowns::kSeen},
    {"greatest", 2, kAnyNumber, Greatest, Unknowns::kSeen},
    {"least", 2, kAnyNumber, Least, Unknowns::kSeen},
    {"successor", 1, 1, Successor, Unknowns::kSeen},
};

constexpr FunctionAlias kComparisonAliases[] = {
    {"isnull", "is_null"},
    {"isnotnull", "is_not_null"},
    {"ismissing", "is_missing"},
    {"isnotmissing", "is_not_missing"},
    {"is_known", "is_valued"},
    {"isknown", "is_valued"},
    {"isvalued", "is_valued"},
    {"is_not_unknown", "is_valued"},
    {"isnotunknown", "is_valued"},
    {"is_not_known", "is_not_valued"},
    {"isnotknown", "is_not_valued"},
    {"isnotvalued", "is_not_valued"},
    {"is_unknown", "is_not_valued"},
    {"isunknown", "is_not_valued"},
    {"isdistinctfrom", "is_distinct_from"},
    {"isnotdistinctfrom", "is_not_distinct_from"},
};

}  // namespace

FunctionFamily ComparisonFunctions() { return {kComparisonFunctions, kComparisonAliases}; }

}  // namespace sluice::query
