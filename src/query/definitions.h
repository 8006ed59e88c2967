// CREATE, DROP, ALTER, BUILD: statements that change the catalog, and INFER.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "db/database.h"
#include "query/bind/binder.h"
#include "query/error.h"
#include "query/parse/ast.h"

namespace sluice::query {

struct Defined {
  // Implicit: most definitions have nothing else to say.
  Defined(std::vector<json::Value> rows = {}) : rows(std::move(rows)) {}  // NOLINT

  std::vector<json::Value> rows;
  std::vector<Warning> warnings = {};
};

// Each waits until the change is durable and returns the statement's rows.
using DefinitionRows = Result<Defined>;
DefinitionRows RunDefinition(db::Database& database, const QueryContext& context,
                             const CatalogStatement& statement);
DefinitionRows RunDefinition(db::Database& database, const QueryContext& context,
                             const CreateTableStatement& statement);
DefinitionRows RunDefinition(db::Database& database, const QueryContext& context,
                             const DropTableStatement& statement);
DefinitionRows RunDefinition(db::Database& database, const QueryContext& context,
                             const CreateIndexStatement& statement);
DefinitionRows RunDefinition(db::Database& database, const QueryContext& context,
                             const DropIndexStatement& statement);
DefinitionRows RunDefinition(db::Database& database, const QueryContext& context,
                             const AlterIndexStatement& statement);
DefinitionRows BuildIndexes(db::Database& database, const QueryContext& context,
                            const BuildIndexStatement& statement,
                            const std::vector<std::string>& names);
DefinitionRows RunDefinition(db::Database& database, const QueryContext& context,
                             const InferStatement& statement);
DefinitionRows RunDefinition(db::Database& database, const QueryContext& context,
                             const StatisticsStatement& statement);

// The index that a statement would make.
db::IndexDefinition IndexDefinitionOf(const CreateIndexStatement& statement);

// The value of an expression that uses no variables and no parameters.
Result<json::Value> EvaluateConstant(const db::Database& database, const Expression& expression);

}  // namespace sluice::query
