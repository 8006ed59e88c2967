#include "query/functions/comparison.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "json/compare.h"
#include "query/functions/function.h"

namespace sluice::query {
namespace {

using json::Field;
using json::Type;

// MISSING or NULL when one of the two is; MISSING wins.
std::optional<Value> UnknownOf(const Value& a, const Value& b) {
  if (a.is_missing() || b.is_missing()) return Value();
  if (a.is_null() || b.is_null()) return Value(nullptr);
  return std::nullopt;
}

// The parts' answers as the whole's: a false decides, then MISSING, then NULL.
class AllEqual {
 public:
  // False when nothing can change the answer any more.
  bool Add(const Value& part) {
    missing_ |= part.is_missing();
    null_ |= part.is_null();
    unequal_ |= part.is_bool() && !part.AsBool();
    return !unequal_;
  }
  Value answer() const {
    if (unequal_) return false;
    return missing_ ? Value() : null_ ? Value(nullptr) : Value(true);
  }

 private:
  bool missing_ = false;
  bool null_ = false;
  bool unequal_ = false;
};

Value ArraysEqual(const Value& a, const Value& b) {
  if (a.size() != b.size()) return false;
  AllEqual all;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!all.Add(CompareEq(a[i], b[i]))) break;
  }
  return all.answer();
}

Value ObjectsEqual(const Value& a, const Value& b) {
  if (a.size() != b.size()) return false;
  AllEqual all;
  for (const Field& field : a.fields()) {
    const Value* other = b.Find(field.name());
    if (other == nullptr) return false;
    if (!all.Add(CompareEq(field.value, *other))) break;
  }
  return all.answer();
}

// -1, 0 or 1, or unknown.
struct Order {
  int sign = 0;
  std::optional<Value> unknown;

  bool decided() const { return sign != 0 || unknown.has_value(); }
};

int SignOf(std::strong_ordering order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

Order OrderOf(const Value& a, const Value& b);

Order OrderArrays(const Value& a, const Value& b) {
  const size_t common = std::min(a.size(), b.size());
  for (size_t i = 0; i < common; ++i) {
    if (Order order = OrderOf(a[i], b[i]); order.decided()) return order;
  }
  return {SignOf(a.size() <=> b.size())};
}

Order OrderObjects(const Value& a, const Value& b) {
  if (a.size() != b.size()) return {SignOf(a.size() <=> b.size())};
  const auto left = json::SortedFields(a);
  const auto right = json::SortedFields(b);
  for (size_t i = 0; i < left.size(); ++i) {
    if (const int names = left[i]->name().compare(right[i]->name()); names != 0) {
      return {names < 0 ? -1 : 1};
    }
    if (Order order = OrderOf(left[i]->value, right[i]->value); order.decided()) return order;
  }
  return {};
}

Order OrderOf(const Value& a, const Value& b) {
  if (auto unknown = UnknownOf(a, b)) return {0, std::move(unknown)};
  if (a.is_array() && b.is_array()) return OrderArrays(a, b);
  if (a.is_object() && b.is_object()) return OrderObjects(a, b);
  return {SignOf(json::Compare(a, b))};
}

// Calls `visit` with everything inside until it returns false; false when it did.
bool VisitInside(const Value& container, const std::function<bool(const Value&)>& visit) {
  for (const Value& item : container.items()) {
    if (!visit(item) || !VisitInside(item, visit)) return false;
  }
  for (const Field& field : container.fields()) {
    if (!visit(field.value) || !VisitInside(field.value, visit)) return false;
  }
  return true;
}

// Collects what comparing `value` with each of many gives.
class Search {
 public:
  explicit Search(const Value& value) : value_(value) {}

  // True when found.
  bool Try(const Value& candidate) {
    if (candidate.is_missing()) {
      missing_ = true;
    } else if (candidate.is_null() || value_.is_null()) {
      null_ = true;
    } else {
      found_ = Truth(CompareEq(value_, candidate));
    }
    return found_;
  }
  Value answer() const {
    if (found_) return true;
    return null_ ? Value(nullptr) : missing_ ? Value() : Value(false);
  }

 private:
  const Value& value_;
  bool found_ = false;
  bool null_ = false;
  bool missing_ = false;
};

// --- functions ---

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
  if (auto unknown = UnknownOf(above, below)) return *std::move(unknown);
  return above.AsBool() && below.AsBool();
}

bool IsKnown(const Value& value) { return !value.is_missing() && !value.is_null(); }

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

// The known value that the order puts furthest in the direction of `sign`.
Value Extreme(Args args, int sign) {
  const Value* best = nullptr;
  for (const Value* arg : args) {
    if (!IsKnown(*arg)) continue;
    if (best == nullptr || SignOf(json::Compare(*arg, *best)) == sign) best = arg;
  }
  return best == nullptr ? Value(nullptr) : *best;
}

Value Greatest(FunctionContext&, Args args) { return Extreme(args, 1); }
Value Least(FunctionContext&, Args args) { return Extreme(args, -1); }

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

constexpr auto kSeen = Unknowns::kSeen;
constexpr ScalarFunction kFunctions[] = {
    {"eq", 2, 2, EqFunction},
    {"lt", 2, 2, LtFunction},
    {"le", 2, 2, LeFunction},
    {"between", 3, 3, Between, kSeen},
    {"in", 2, 2, InFunction, kSeen},
    {"within", 2, 2, WithinFunction, kSeen},
    {"exists", 1, 1, Exists, kSeen},
    {"and", 2, kAnyNumber, AndFunction, kSeen},
    {"or", 2, kAnyNumber, OrFunction, kSeen},
    {"not", 1, 1, NotFunction},
    {"is_null", 1, 1, IsNull, kSeen},
    {"is_not_null", 1, 1, IsNotNull, kSeen},
    {"is_missing", 1, 1, IsMissing, kSeen},
    {"is_not_missing", 1, 1, IsNotMissing, kSeen},
    {"is_valued", 1, 1, IsValued, kSeen},
    {"is_not_valued", 1, 1, IsNotValued, kSeen},
    {"is_distinct_from", 2, 2, IsDistinct, kSeen},
    {"is_not_distinct_from", 2, 2, IsNotDistinct, kSeen},
    {"greatest", 2, kAnyNumber, Greatest, kSeen},
    {"least", 2, kAnyNumber, Least, kSeen},
    {"successor", 1, 1, Successor, kSeen},
};

constexpr FunctionAlias kAliases[] = {
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

Value CompareEq(const Value& a, const Value& b) {
  if (a.is_int() && b.is_int()) return a.AsInt() == b.AsInt();
  if (a.is_string() && b.is_string()) return a.AsString() == b.AsString();
  if (auto unknown = UnknownOf(a, b)) return *std::move(unknown);
  if (a.is_array() && b.is_array()) return ArraysEqual(a, b);
  if (a.is_object() && b.is_object()) return ObjectsEqual(a, b);
  if (a.is_double() && std::isnan(a.AsDouble())) return false;
  return json::Equal(a, b);
}

Value CompareLess(const Value& a, const Value& b) {
  if (a.is_int() && b.is_int()) return a.AsInt() < b.AsInt();
  if (a.is_string() && b.is_string()) return a.AsString() < b.AsString();
  Order order = OrderOf(a, b);
  return order.unknown ? *std::move(order.unknown) : Value(order.sign < 0);
}

Value CompareLessEqual(const Value& a, const Value& b) {
  if (a.is_int() && b.is_int()) return a.AsInt() <= b.AsInt();
  if (a.is_string() && b.is_string()) return a.AsString() <= b.AsString();
  Order order = OrderOf(a, b);
  return order.unknown ? *std::move(order.unknown) : Value(order.sign <= 0);
}

Value In(const Value& value, const Value& array) {
  if (value.is_missing() || array.is_missing()) return Value();
  if (!array.is_array()) return nullptr;
  Search search(value);
  for (const Value& item : array.items()) {
    if (search.Try(item)) break;
  }
  return search.answer();
}

Value Within(const Value& value, const Value& container) {
  if (value.is_missing() || container.is_missing()) return Value();
  if (!container.is_array() && !container.is_object()) return nullptr;
  Search search(value);
  VisitInside(container, [&](const Value& inside) { return !search.Try(inside); });
  return search.answer();
}

bool Truth(const Value& value) {
  switch (value.type()) {
    case Type::kMissing:
    case Type::kNull:
      return false;
    case Type::kBool:
      return value.AsBool();
    case Type::kInt:
      return value.AsInt() != 0;
    case Type::kDouble:
      return value.AsDouble() != 0 && !std::isnan(value.AsDouble());
    case Type::kDecimal:
      return value.AsDecimal().coefficient != 0;
    case Type::kString:
      return !value.AsString().empty();
    case Type::kArray:
    case Type::kObject:
      return value.size() > 0;
    case Type::kBytes:
      return !value.AsBytes().empty();
    case Type::kDatetime:
    case Type::kInterval:
      return true;
  }
  return false;
}

Value Not(const Value& value) {
  return value.is_missing() || value.is_null() ? value : Value(!Truth(value));
}

FunctionFamily ComparisonFunctions() { return {kFunctions, kAliases}; }

}  // namespace sluice::query
