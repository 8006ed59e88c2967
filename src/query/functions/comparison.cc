#include "query/functions/comparison.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "json/compare.h"

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

}  // namespace sluice::query
