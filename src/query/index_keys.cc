#include "query/index_keys.h"

#include <utility>

#include "json/path.h"
#include "query/error.h"
#include "query/parse/parser.h"

namespace sluice::query {
namespace {

constexpr std::string_view kMetaId = "META().id";

ExpressionPtr Make(ExprKind kind) {
  auto expression = std::make_unique<Expression>();
  expression->kind = kind;
  return expression;
}

// A path as the expression that a user would have written.
Result<ExpressionPtr> PathExpression(const std::string& text) {
  if (text == kMetaId) return ParseExpression(text);
  ASSIGN_OR_RETURN(const json::Path path, json::Path::Parse(text));
  ExpressionPtr expression;
  for (const json::PathStep& step : path.steps()) {
    if (const auto* name = std::get_if<std::string>(&step)) {
      ExpressionPtr field = Make(expression == nullptr ? ExprKind::kName : ExprKind::kField);
      field->name = *name;
      if (expression != nullptr) field->args.push_back(std::move(expression));
      expression = std::move(field);
      continue;
    }
    ExpressionPtr element = Make(ExprKind::kElement);
    if (expression == nullptr) {
      expression = Make(ExprKind::kCall);
      expression->name = "self";
    }
    element->args.push_back(std::move(expression));
    element->args.push_back(Make(ExprKind::kLiteral));
    element->args[1]->value = json::Value(std::get<int64_t>(step));
    expression = std::move(element);
  }
  if (expression == nullptr) {
    expression = Make(ExprKind::kCall);
    expression->name = "self";
  }
  return expression;
}

}  // namespace

Result<BoundIndex> BindIndex(Binder& binder, const db::IndexDefinition& definition,
                             VariableId document) {
  BoundIndex index;
  for (const db::IndexPart& part : definition.parts) {
    BoundIndexKey key{.expression = nullptr, .each_element = part.each_element};
    if (part.expression.empty()) {
      ASSIGN_OR_RETURN(key.expression, PathExpression(part.path));
    } else {
      ASSIGN_OR_RETURN(IndexKey parsed, ParseIndexKey(part.expression));
      key.expression = std::move(parsed.expression);
    }
    RETURN_IF_ERROR(binder.BindOverDocument(key.expression, document));
    index.keys.push_back(std::move(key));
  }
  if (!definition.where.empty()) {
    ASSIGN_OR_RETURN(index.where, ParseExpression(definition.where));
    RETURN_IF_ERROR(binder.BindOverDocument(index.where, document));
  }
  return index;
}

}  // namespace sluice::query
