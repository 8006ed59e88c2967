#include "query/table_checks.h"

#include <memory>

#include "query/bind/column.h"
#include "query/definitions.h"
#include "query/error.h"
#include "query/parse/parser.h"

namespace sluice::query {

Result<json::Value> DefaultOf(const db::Database& database, const db::TableSchema& schema,
                              const db::TableColumn& column) {
  ASSIGN_OR_RETURN(const ExpressionPtr expression, ParseExpression(column.default_text));
  auto value = EvaluateConstant(database, *expression);
  if (value) return value;
  return QueryFail(QueryCode::kTableDefinition, "table '{}': the DEFAULT of column '{}', {}: {}",
                   schema.name, column.name, column.default_text, value.error().message());
}

Status CheckChecks(const db::TableSchema& schema) {
  Variables variables;
  db::KeyspaceInfo keyspace;
  keyspace.name = db::TableKeyspace(schema.name);
  keyspace.table = std::make_shared<const db::TableSchema>(schema);
  const VariableId row = variables.AddDocument(schema.name, keyspace);
  for (const db::TableCheck& check : schema.checks) {
    const auto bound = BindCheck(variables, row, check.condition);
    if (!bound) return bound.error();
  }
  return OkStatus();
}

}  // namespace sluice::query
