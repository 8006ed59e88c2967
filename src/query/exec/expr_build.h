// Expressions that make values: calls, constructors, comprehensions.
#pragma once

#include <vector>

#include "query/exec/expr.h"
#include "query/functions/function.h"

namespace sluice::query {

ExprPtr MakeCall(const ScalarFunction& function, std::vector<ExprPtr> args);
ExprPtr MakeArray(std::vector<ExprPtr> items);

struct ObjectEntry {
  ExprPtr name;
  ExprPtr value;
};
// A MISSING value leaves its field out; a name that is no string makes the object NULL.
ExprPtr MakeObject(std::vector<ObjectEntry> entries);

// One term of a result: a named value, or all fields of an object (`alias.*`).
struct ResultEntry {
  Value name;  // a string
  bool spread = false;
  ExprPtr value;
};
ExprPtr MakeResultObject(std::vector<ResultEntry> entries);

// Without what the paths lead to.
ExprPtr MakeExclude(ExprPtr object, std::vector<json::Path> paths);

enum class ComprehensionKind : uint8_t { kAny, kEvery, kAnyAndEvery, kArray, kFirst, kObject };
struct RangeExpr {
  Slot name = 0;  // 0: not wanted
  Slot value = 0;
  bool within = false;
  ExprPtr source;
};
struct ComprehensionParts {
  ComprehensionKind kind = ComprehensionKind::kAny;
  std::vector<RangeExpr> ranges;
  ExprPtr name;
  ExprPtr body;
  ExprPtr when;
};
ExprPtr MakeComprehension(ComprehensionParts parts);

// What a range walks over: elements or fields of a value, or everything inside it.
struct RangeItem {
  Value name;
  Value value;
};
// False when the source is neither array nor object.
bool CollectRange(const Value& source, bool within, std::vector<RangeItem>* items);

}  // namespace sluice::query
