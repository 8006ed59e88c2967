// Expressions that make values: calls, constructors, comprehensions.
#pragma once

#include <vector>

#include "json/path.h"
#include "query/exec/expr.h"
#include "query/functions/function.h"

namespace sluice::query {

class HeldValues;

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

// EXCLUDE: an object without the fields at the paths.
struct ExcludeParts {
  ExprPtr object;
  std::vector<std::vector<json::PathStep>> paths;
  std::vector<ExprPtr> names;       // more paths, as text or arrays of texts
  std::string star;                 // the only alias that * has: its fields need not say it
  std::vector<std::string> spread;  // aliases whose fields are here: `a.x` is x of a.*
};
ExprPtr MakeExclude(ExcludeParts parts);

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

// An element of a range with WITHIN, which walks over everything inside a value, with its name or
// position.
struct RangeItem {
  Value name;
  Value value;
};
void CollectInside(Context& context, const Value& value, HeldValues* held,
                   std::vector<RangeItem>* items);

// Values share their parts, so a statement can cheaply nest a value in itself many times, and
// printing or comparing the result would then never end. So each array and object that holds others
// is measured when it is made; one that is too large fails the run.
void CheckSize(Context& context, Value& value);

}  // namespace sluice::query
