// Bound expressions into ones that can be evaluated.
//
// A Compiler lives while one statement is planned, on one thread; its results are immutable.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "query/exec/expr.h"
#include "query/exec/layout.h"
#include "query/exec/operator.h"
#include "query/parse/ast.h"

namespace sluice::query {

// Makes the plan of a subquery; the planner implements it.
class SubqueryPlanner {
 public:
  virtual ~SubqueryPlanner() = default;
  virtual Result<std::shared_ptr<const QueryPlan>> PlanSubquery(const Query& query) = 0;
};

// Positional ones first ($1 is number 0), then named ones.
struct ParameterList {
  uint32_t positional = 0;
  std::vector<std::string> named;

  Result<size_t> IndexOf(const Expression& parameter) const;
  size_t size() const { return positional + named.size(); }
};

class Compiler {
 public:
  Compiler(const Variables& variables, Layout& layout, const ParameterList& parameters,
           SubqueryPlanner* subqueries)
      : variables_(variables), layout_(layout), parameters_(parameters), subqueries_(subqueries) {}

  Result<ExprPtr> Compile(const Expression& expression);
  // Null for a null pointer.
  Result<ExprPtr> CompileOptional(const ExpressionPtr& expression);
  Result<std::vector<ExprPtr>> CompileAll(const std::vector<ExpressionPtr>& expressions);

 private:
  Result<ExprPtr> CompileParts(const Expression& expression);
  static ExprPtr FoldedArray(std::vector<ExprPtr> items);
  static ExprPtr BelowPath(ExprPtr base, const json::Path& path, size_t from);
  Result<ExprPtr> CompilePath(const VariablePath& path, const Expression& expression);
  Result<ExprPtr> CompileMeta(const MetaReference& meta);
  Result<ExprPtr> CompileCall(const Expression& expression);
  Result<ExprPtr> CompileUserCall(const Expression& call);
  Result<ExprPtr> CompileLogic(const Expression& expression);
  Result<ExprPtr> CompileComparison(const Expression& expression);
  Result<ExprPtr> CompileComprehension(const Expression& expression);
  Result<ExprPtr> CompileSubquery(const Expression& expression);
  Result<ExprPtr> CompileObject(const Expression& expression);
  Result<ExprPtr> CompileExists(const Expression& expression);

  const Variables& variables_;
  Layout& layout_;
  const ParameterList& parameters_;
  SubqueryPlanner* subqueries_;
};

}  // namespace sluice::query
