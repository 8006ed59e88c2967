// CREATE INDEX and kin.
#include <algorithm>
#include <optional>
#include <utility>

#include "query/definitions.h"
#include "query/error.h"
#include "query/exec/layout.h"
#include "query/parse/parser.h"

namespace sluice::query {
namespace {

// `a.b[0]` as a path that the database reads itself; nothing for any other expression.
std::optional<std::string> AsPath(const Expression& expression) {
  std::optional<PathBelow> path = AsPathBelow(expression);
  if (!path || path->base->kind != ExprKind::kName || path->base->ignore_case ||
      path->steps.size() >= json::kMaxPathSteps) {
    return std::nullopt;
  }
  path->steps.insert(path->steps.begin(), path->base->name);
  return json::Path(std::move(path->steps)).ToString();
}

bool IsMetaId(const Expression& expression) {
  return expression.kind == ExprKind::kField && expression.name == "id" &&
         expression.args[0]->kind == ExprKind::kCall && expression.args[0]->name == "meta" &&
         expression.args[0]->args.empty();
}

db::IndexPart PartOf(const IndexKey& key) {
  db::IndexPart part;
  part.descending = key.descending;
  part.each_element = key.each_element;
  part.distinct = !key.each_element || key.distinct;
  part.include_missing = key.include_missing;
  if (IsMetaId(*key.expression)) {
    part.path = "META().id";
  } else if (auto path = AsPath(*key.expression)) {
    part.path = std::move(*path);
  } else {
    // Direction and INCLUDE MISSING are kept by themselves.
    IndexKey bare;
    bare.expression = Clone(*key.expression);
    bare.each_element = key.each_element;
    bare.distinct = key.distinct;
    part.expression = ToText(bare);
  }
  return part;
}

Status Numbered(const Status& status, const TextPlace& place) {
  if (status.id() == "index.exists") {
    return AtPlace(QueryError(QueryCode::kIndexExists, "{}", status.message()), place);
  }
  if (status.id() == "index.not_found") {
    return AtPlace(QueryError(QueryCode::kIndexNotFound, "{}", status.message()), place);
  }
  if (status.code() == Code::kInvalidArgument || status.code() == Code::kUnsupported) {
    return AtPlace(QueryError(QueryCode::kInvalidIndex, "{}", status.message()), place);
  }
  return status;
}

// WITH {"defer_build": true}; what only makes sense on several machines is refused.
Result<db::IndexBuild> BuildOf(const CreateIndexStatement& statement) {
  db::IndexBuild build = db::IndexBuild::kNow;
  if (!statement.with) return build;
  for (const json::Field& field : statement.with->fields()) {
    if (field.name() == "defer_build" && field.value.is_bool()) {
      if (field.value.AsBool()) build = db::IndexBuild::kDeferred;
      continue;
    }
    return Unexpected(
        AtPlace(QueryError(QueryCode::kInvalidIndex,
                           "WITH: expected {{\"defer_build\": true}}, got \"{}\"", field.name()),
                statement.place));
  }
  return build;
}

Result<std::vector<std::string>> NamesOf(const db::Database& database,
                                         const BuildIndexStatement& statement) {
  std::vector<std::string> names;
  for (const ExpressionPtr& expression : statement.names) {
    ASSIGN_OR_RETURN(const json::Value value, EvaluateConstant(database, *expression));
    if (value.is_string()) names.emplace_back(value.AsString());
    for (const json::Value& item : value.items()) {
      if (item.is_string()) names.emplace_back(item.AsString());
    }
  }
  if (!names.empty()) return names;
  return Unexpected(
      AtPlace(QueryError(QueryCode::kInvalidIndex, "BUILD INDEX takes names"), statement.place));
}

}  // namespace

DefinitionRows RunDefinition(db::Database& database, const QueryContext& context,
                             const CreateIndexStatement& statement) {
  ASSIGN_OR_RETURN(const auto keyspace,
                   ResolveKeyspace(*database.catalog(), context, statement.keyspace));
  if (!statement.partition_by.empty()) {
    return Unexpected(AtPlace(
        QueryError(QueryCode::kInvalidIndex, "PARTITION BY: an index is one piece on one machine"),
        statement.place));
  }
  db::IndexDefinition definition;
  definition.primary = statement.primary;
  definition.unique = statement.unique;
  if (statement.unique && (keyspace->table == nullptr || statement.where != nullptr)) {
    return Unexpected(AtPlace(QueryError(QueryCode::kInvalidIndex,
                                         "only an index of a table can be UNIQUE, without WHERE"),
                              statement.place));
  }
  definition.name = statement.name.empty() ? std::string(db::kPrimaryIndexName) : statement.name;
  for (const IndexKey& key : statement.keys) definition.parts.push_back(PartOf(key));
  if (statement.where != nullptr) definition.where = ToText(*statement.where);
  ASSIGN_OR_RETURN(const db::IndexBuild build, BuildOf(statement));
  const Status status = database.CreateIndex(keyspace->name, std::move(definition), build);
  if (status.ok() || (statement.if_not_exists && status.code() == Code::kAlreadyExists)) {
    return std::vector<json::Value>{};
  }
  return Unexpected(Numbered(TableError(status), statement.place));
}

DefinitionRows RunDefinition(db::Database& database, const QueryContext& context,
                             const DropIndexStatement& statement) {
  ASSIGN_OR_RETURN(const auto keyspace,
                   ResolveKeyspace(*database.catalog(), context, statement.keyspace));
  const std::string name =
      statement.name.empty() ? std::string(db::kPrimaryIndexName) : statement.name;
  const Status status = database.DropIndex(keyspace->name, name);
  if (status.ok() || (statement.if_exists && status.code() == Code::kNotFound)) {
    return std::vector<json::Value>{};
  }
  if (status.id() == "table.referenced") {
    return Unexpected(AtPlace(TableError(status), statement.place));
  }
  return Unexpected(Numbered(status, statement.place));
}

DefinitionRows RunDefinition(db::Database&, const QueryContext&,
                             const AlterIndexStatement& statement) {
  return Unexpected(
      AtPlace(QueryError(QueryCode::kInvalidIndex,
                         "ALTER INDEX moves an index between machines; here there is one"),
              statement.place));
}

DefinitionRows RunDefinition(db::Database& database, const QueryContext& context,
                             const BuildIndexStatement& statement) {
  ASSIGN_OR_RETURN(const auto keyspace,
                   ResolveKeyspace(*database.catalog(), context, statement.keyspace));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesOf(database, statement));
  const Status status = database.BuildIndex(keyspace->name, names);
  if (!status.ok()) return Unexpected(Numbered(status, statement.place));
  return std::vector<json::Value>{};
}

DefinitionRows RunDefinition(db::Database& database, const QueryContext& context,
                             const StatisticsStatement& statement) {
  // Estimates are read from the store when a statement is planned: there is nothing to gather.
  ASSIGN_OR_RETURN(const auto keyspace,
                   ResolveKeyspace(*database.catalog(), context, statement.keyspace));
  return std::vector<json::Value>{};
}

}  // namespace sluice::query
