// CREATE INDEX and kin.
#include <utility>

#include "query/definitions.h"
#include "query/error.h"

namespace sluice::query {
namespace {

Result<db::IndexPart> PartOf(const IndexKey& key) {
  db::IndexPart part;
  part.descending = key.descending;
  part.each_element = key.each_element;
  part.path = ToText(*key.expression);
  return part;
}

Status Numbered(const Status& status, const TextPlace& place) {
  if (status.id() == "index.exists") {
    return AtPlace(QueryError(QueryCode::kIndexExists, "{}", status.message()), place);
  }
  if (status.id() == "index.not_found") {
    return AtPlace(QueryError(QueryCode::kIndexNotFound, "{}", status.message()), place);
  }
  if (status.code() == Code::kInvalidArgument) {
    return AtPlace(QueryError(QueryCode::kInvalidIndex, "{}", status.message()), place);
  }
  return status;
}

}  // namespace

DefinitionRows RunDefinition(db::Database& database, const QueryContext& context,
                             const CreateIndexStatement& statement) {
  ASSIGN_OR_RETURN(const auto keyspace,
                   ResolveKeyspace(*database.catalog(), context, statement.keyspace));
  db::IndexDefinition definition;
  definition.name = statement.name;
  for (const IndexKey& key : statement.keys) {
    ASSIGN_OR_RETURN(db::IndexPart part, PartOf(key));
    definition.parts.push_back(std::move(part));
  }
  const Status status = database.CreateIndex(keyspace->name, std::move(definition));
  if (status.ok() || (statement.if_not_exists && status.code() == Code::kAlreadyExists)) {
    return std::vector<json::Value>{};
  }
  return Unexpected(Numbered(status, statement.place));
}

DefinitionRows RunDefinition(db::Database& database, const QueryContext& context,
                             const DropIndexStatement& statement) {
  ASSIGN_OR_RETURN(const auto keyspace,
                   ResolveKeyspace(*database.catalog(), context, statement.keyspace));
  const Status status = database.DropIndex(keyspace->name, statement.name);
  if (status.ok() || (statement.if_exists && status.code() == Code::kNotFound)) {
    return std::vector<json::Value>{};
  }
  return Unexpected(Numbered(status, statement.place));
}

DefinitionRows RunDefinition(db::Database&, const QueryContext&,
                             const AlterIndexStatement& statement) {
  return Unexpected(AtPlace(
      QueryError(QueryCode::kInvalidIndex,
                 "ALTER INDEX moves an index between machines; here there is one: nothing to do"),
      statement.place));
}

DefinitionRows RunDefinition(db::Database&, const QueryContext&,
                             const BuildIndexStatement& statement) {
  return Unexpected(
      AtPlace(QueryError(QueryCode::kInvalidIndex, "no index waits to be built"), statement.place));
}

DefinitionRows RunDefinition(db::Database& database, const QueryContext& context,
                             const StatisticsStatement& statement) {
  // Estimates are read from the store when a statement is planned.
  ASSIGN_OR_RETURN(const auto keyspace,
                   ResolveKeyspace(*database.catalog(), context, statement.keyspace));
  return std::vector<json::Value>{};
}

}  // namespace sluice::query
