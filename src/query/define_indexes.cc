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
  if (status.id() == "index.not_found") {
    return AtPlace(QueryError(QueryCode::kIndexNotFound, "Index Not Found: {}", status.message()),
                   place);
  }
  if (status.code() == Code::kInvalidArgument || status.code() == Code::kUnsupported) {
    return AtPlace(QueryError(QueryCode::kInvalidIndex, "{}", status.message()), place);
  }
  return status;
}

Warning NoEffect(std::string_view what) {
  return {QueryCode::kInvalidIndex,
          fmt::format("{} has no effect: an index is one piece on one machine", what)};
}

// WITH {"defer_build": true}. Options for several machines, or for the expected size, have no
// effect.
Result<db::IndexBuild> BuildOf(const CreateIndexStatement& statement,
                               std::vector<Warning>* warnings) {
  constexpr std::string_view kPlacement[] = {"num_replica", "nodes",        "num_partition",
                                             "secKeySize",  "docKeySize",   "arrSize",
                                             "numDoc",      "residentRatio"};
  db::IndexBuild build = db::IndexBuild::kNow;
  if (!statement.with) return build;
  for (const json::Field& field : statement.with->fields()) {
    if (field.name() == "defer_build" && field.value.is_bool()) {
      if (field.value.AsBool()) build = db::IndexBuild::kDeferred;
    } else if (std::ranges::find(kPlacement, field.name()) != std::end(kPlacement)) {
      warnings->push_back(NoEffect(field.name()));
    } else {
      return Unexpected(
          AtPlace(QueryError(QueryCode::kInvalidIndex,
                             "WITH: expected {{\"defer_build\": true}}, got \"{}\"", field.name()),
                  statement.place));
    }
  }
  return build;
}

}  // namespace

db::IndexDefinition IndexDefinitionOf(const CreateIndexStatement& statement) {
  db::IndexDefinition definition;
  definition.primary = statement.primary;
  definition.unique = statement.unique;
  definition.many_nulls = statement.unique;
  definition.name = statement.name.empty() ? std::string(db::kPrimaryIndexName) : statement.name;
  for (const IndexKey& key : statement.keys) definition.parts.push_back(PartOf(key));
  if (statement.where != nullptr) definition.where = ToText(*statement.where);
  return definition;
}

DefinitionRows RunDefinition(db::Database& database, const QueryContext& context,
                             const CreateIndexStatement& statement) {
  ASSIGN_OR_RETURN(const auto keyspace,
                   ResolveKeyspace(*database.catalog(), context, statement.keyspace));
  Defined defined;
  if (!statement.partition_by.empty()) defined.warnings.push_back(NoEffect("PARTITION BY"));
  if (statement.unique && (keyspace->table == nullptr || statement.where != nullptr)) {
    return Unexpected(AtPlace(QueryError(QueryCode::kInvalidIndex,
                                         "only an index of a table can be UNIQUE, without WHERE"),
                              statement.place));
  }
  db::IndexDefinition definition = IndexDefinitionOf(statement);
  ASSIGN_OR_RETURN(const db::IndexBuild build, BuildOf(statement, &defined.warnings));
  const std::string name = definition.name;
  const Status status = database.admin().CreateIndex(keyspace->name, std::move(definition), build);
  if (status.ok() || (statement.if_not_exists && status.code() == Code::kAlreadyExists)) {
    return defined;
  }
  if (status.id() == "index.exists") {
    return Unexpected(
        AtPlace(QueryError(QueryCode::kIndexExists, "The index {} already exists.", name),
                statement.place));
  }
  return Unexpected(Numbered(TableError(status), statement.place));
}

DefinitionRows RunDefinition(db::Database& database, const QueryContext& context,
                             const DropIndexStatement& statement) {
  ASSIGN_OR_RETURN(const auto keyspace,
                   ResolveKeyspace(*database.catalog(), context, statement.keyspace));
  const std::string name =
      statement.name.empty() ? std::string(db::kPrimaryIndexName) : statement.name;
  const Status status = database.admin().DropIndex(keyspace->name, name);
  if (status.ok() || (statement.if_exists && status.code() == Code::kNotFound)) {
    return std::vector<json::Value>{};
  }
  if (status.id() == "table.referenced") {
    return Unexpected(AtPlace(TableError(status), statement.place));
  }
  if (statement.primary && status.id() == "index.not_found") {
    return Unexpected(AtPlace(QueryError(QueryCode::kPrimaryIndexNotFound,
                                         "Primary Index not found: {}", status.message()),
                              statement.place));
  }
  return Unexpected(Numbered(status, statement.place));
}

DefinitionRows RunDefinition(db::Database& database, const QueryContext& context,
                             const AlterIndexStatement& statement) {
  constexpr std::string_view kActions[] = {"move", "replica_count", "drop_replica"};
  ASSIGN_OR_RETURN(const auto keyspace,
                   ResolveKeyspace(*database.catalog(), context, statement.keyspace));
  if (std::ranges::none_of(keyspace->indexes, [&](const auto& index) {
        return index->definition().name == statement.name;
      })) {
    return Unexpected(AtPlace(
        QueryError(QueryCode::kIndexNotFound, "Index Not Found: there is no index '{}' on {}",
                   statement.name, keyspace->name.ToString()),
        statement.place));
  }
  const json::Value action = (*statement.with)["action"];
  const std::string_view word = action.is_string() ? action.AsString() : "";
  if (std::ranges::find(kActions, word) == std::end(kActions)) {
    return Unexpected(AtPlace(
        QueryError(QueryCode::kInvalidIndex, "ALTER INDEX: expected an \"action\", one of {}",
                   fmt::join(kActions, ", ")),
        statement.place));
  }
  Defined defined;
  defined.warnings.push_back(NoEffect(fmt::format("ALTER INDEX, {},", word)));
  return defined;
}

DefinitionRows BuildIndexes(db::Database& database, const QueryContext& context,
                            const BuildIndexStatement& statement,
                            const std::vector<std::string>& names) {
  ASSIGN_OR_RETURN(const auto keyspace,
                   ResolveKeyspace(*database.catalog(), context, statement.keyspace));
  const Status status = database.admin().BuildIndex(keyspace->name, names);
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
