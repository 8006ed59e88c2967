// ON CONFLICT and REPLACE of an INSERT into a table: the unique keys that can conflict.
#include "query/plan/plan_conflict.h"

#include <algorithm>

#include "query/error.h"

namespace sluice::query {
namespace {

bool IsKeyOf(const db::IndexDefinition& definition, const std::vector<ColumnName>& columns) {
  return definition.parts.size() == columns.size() &&
         std::ranges::all_of(columns, [&](const ColumnName& column) {
           return std::ranges::any_of(definition.parts, [&](const db::IndexPart& part) {
             return db::SameColumnName(part.path, column.name);
           });
         });
}

}  // namespace

Result<std::vector<std::shared_ptr<const db::Index>>> ConflictKeys(const db::KeyspaceInfo& table,
                                                                   const ConflictClause& clause) {
  std::vector<std::shared_ptr<const db::Index>> keys;
  for (const auto& index : table.indexes) {
    // An index that is not kept up to date can't find conflicts.
    if (!index->definition().unique || !index->kept()) continue;
    if (clause.columns.empty() || IsKeyOf(index->definition(), clause.columns)) {
      keys.push_back(index);
    }
  }
  if (!keys.empty() || clause.columns.empty()) return keys;
  std::vector<std::string> names;
  for (const ColumnName& column : clause.columns) names.push_back(column.name);
  return Unexpected(
      AtPlace(QueryError(QueryCode::kPlan,
                         "ON CONFLICT ({}): table '{}' has no unique key of these columns",
                         fmt::join(names, ", "), table.table->name),
              clause.columns[0].place));
}

OnConflict ActionOf(const ConflictClause& clause) {
  switch (clause.action) {
    case ConflictClause::Action::kNothing:
      return OnConflict::kNothing;
    case ConflictClause::Action::kUpdate:
      return OnConflict::kUpdate;
    case ConflictClause::Action::kReplace:
      return OnConflict::kReplace;
  }
  return OnConflict::kNothing;
}

}  // namespace sluice::query
