#include "procedure/trigger/definition.h"

#include <algorithm>
#include <numeric>

#include "base/nearest.h"
#include "procedure/name.h"
#include "query/error.h"
#include "query/parse/parser.h"

namespace sluice::procedure {
namespace {

using query::TriggerStatement;
using Columns = EventColumns::Column;

Status CheckName(const std::string& name) {
  if (IsValidName(name, kMaxTriggerName)) return OkStatus();
  return Error(Code::kInvalidArgument, "trigger.invalid_name",
               "the name of a trigger or consumer has 1 to {} letters, digits and _; got '{}'",
               kMaxTriggerName, name);
}

Status UnknownColumn(const db::TableSchema& table, const query::ColumnName& written) {
  const std::string& name = written.name;
  std::vector<std::string> names;
  for (const db::TableColumn& column : table.columns) names.push_back(column.name);
  return query::AtPlace(
      Error(Code::kInvalidArgument, "trigger.unknown_column", "table '{}' has no column '{}'{}",
            table.name, name, DidYouMean(name, names)),
      written.place);
}

Columns ColumnOf(const db::TableColumn& column) { return {column.name, column.type}; }

Result<EventColumns> ColumnsOf(const db::KeyspaceInfo& keyspace,
                               const std::vector<query::ColumnName>& names) {
  EventColumns columns;
  if (keyspace.table == nullptr) {
    columns.whole = names.empty();
    for (const auto& written : names) columns.columns.push_back({written.name, std::nullopt});
    return columns;
  }
  for (const query::ColumnName& written : names) {
    const db::TableColumn* const column = keyspace.table->FindColumn(written.name);
    if (column == nullptr) return Unexpected(UnknownColumn(*keyspace.table, written));
    columns.columns.push_back(ColumnOf(*column));
  }
  if (!names.empty()) return columns;
  for (const db::TableColumn& column : keyspace.table->columns) {
    columns.columns.push_back(ColumnOf(column));
  }
  return columns;
}

// That WHEN names columns of the table: of one that there is not, nothing would ever be true.
Status CheckCondition(const db::TableSchema& table, const query::Expression& condition) {
  const query::Expression* const row =
      condition.kind == query::ExprKind::kField ? condition.args[0].get() : nullptr;
  if (row != nullptr && row->kind == query::ExprKind::kName &&
      (row->name == "new" || row->name == "old")) {
    const db::TableColumn* const column = table.FindColumn(condition.name);
    if (column == nullptr) return UnknownColumn(table, {.place = {}, .name = condition.name});
    if (column->name == condition.name) return OkStatus();
    return Error(Code::kInvalidArgument, "trigger.unknown_column",
                 "WHEN: the column of table '{}' is '{}', not '{}'", table.name, column->name,
                 condition.name);
  }
  Status status;
  query::ForEachChild(condition, [&](const query::Expression& child) {
    if (status.ok()) status = CheckCondition(table, child);
  });
  return status;
}

Result<TriggerSource> SourceOf(const TriggerStatement::Source& written,
                               const db::KeyspaceInfo& keyspace) {
  TriggerSource source;
  source.keyspace = keyspace.id;
  source.name = keyspace.table != nullptr ? keyspace.table->name : keyspace.name.ToString();
  source.when = written.when;
  if (!written.when.empty() && keyspace.table != nullptr) {
    ASSIGN_OR_RETURN(const query::ExpressionPtr condition, query::ParseExpression(written.when));
    RETURN_IF_ERROR(CheckCondition(*keyspace.table, *condition));
  }
  const auto take = [&](const std::optional<TriggerStatement::Event>& event,
                        std::optional<EventColumns>* columns) -> Status {
    if (!event) return OkStatus();
    ASSIGN_OR_RETURN(*columns, ColumnsOf(keyspace, event->columns));
    return OkStatus();
  };
  RETURN_IF_ERROR(take(written.inserted, &source.inserted));
  RETURN_IF_ERROR(take(written.updated, &source.updated));
  RETURN_IF_ERROR(take(written.deleted, &source.deleted));
  for (const query::ColumnName& named : written.changed) {
    const db::TableColumn* const column =
        keyspace.table == nullptr ? nullptr : keyspace.table->FindColumn(named.name);
    if (keyspace.table != nullptr && column == nullptr) {
      return Unexpected(UnknownColumn(*keyspace.table, named));
    }
    source.changed.push_back(column == nullptr ? named.name : column->name);
  }
  return source;
}

Value ToJson(const std::optional<EventColumns>& event) {
  if (!event) return {};
  if (event->whole) return Value("*");
  Value columns = Value::EmptyArray();
  for (const Columns& column : event->columns) {
    Value item = Value::Object({{"name", column.name}});
    if (column.type) item.Set("type", db::ColumnTypeName(*column.type));
    columns.Append(std::move(item));
  }
  return columns;
}

Status Damaged() {
  return Error(Code::kCorruption, "trigger.corrupt", "the row of a trigger is damaged");
}

Result<std::optional<EventColumns>> EventFromJson(const Value& value) {
  if (value.is_missing()) return std::nullopt;
  EventColumns event;
  event.whole = value.is_string();
  for (const Value& item : value.items()) {
    if (!item["name"].is_string()) return Unexpected(Damaged());
    Columns column{std::string(item["name"].AsString()), std::nullopt};
    if (item["type"].is_string()) {
      column.type = db::ColumnTypeOf(item["type"].AsString());
      if (!column.type) return Unexpected(Damaged());
    }
    event.columns.push_back(std::move(column));
  }
  return event;
}

}  // namespace

const TriggerSource* TriggerDefinition::Find(db::KeyspaceId keyspace) const {
  const auto found = std::ranges::find(sources, keyspace, &TriggerSource::keyspace);
  return found == sources.end() ? nullptr : &*found;
}

std::vector<db::ShardId> ShardsOf(const TriggerDefinition& definition, uint16_t shard_count) {
  const bool of_tables = std::ranges::all_of(definition.sources, [](const TriggerSource& source) {
    return db::IsTableId(source.keyspace);
  });
  if (of_tables) return {db::kTablesShard};
  std::vector<db::ShardId> shards(shard_count);
  std::iota(shards.begin(), shards.end(), db::ShardId{0});
  return shards;
}

std::string FollowerOf(std::string_view trigger) {
  return std::string(kTriggerFollowers) + std::string(trigger);
}

Result<TriggerDefinition> DefinitionOf(const TriggerStatement& statement,
                                       const db::Catalog& catalog,
                                       const query::QueryContext& context) {
  RETURN_IF_ERROR(CheckName(statement.name));
  if (statement.is_default && statement.sources.size() > 1) {
    return Fail(Code::kInvalidArgument, "trigger.default_of_many",
                "cannot create default consumer for multiple tables");
  }
  TriggerDefinition definition{.name = statement.name,
                               .consumer = statement.consumer,
                               .with_sequence = statement.with_sequence,
                               .held = false,
                               .sources = {}};
  for (const TriggerStatement::Source& written : statement.sources) {
    ASSIGN_OR_RETURN(const auto keyspace,
                     query::ResolveKeyspace(catalog, context, written.keyspace));
    auto source = SourceOf(written, *keyspace);
    if (!source) return Unexpected(query::AtPlace(source.error(), written.keyspace.place));
    if (definition.Find(source->keyspace) != nullptr) {
      return Unexpected(query::AtPlace(
          Error(Code::kInvalidArgument, "trigger.twice", "'{}' is named twice", source->name),
          written.keyspace.place));
    }
    definition.sources.push_back(std::move(*source));
  }
  return definition;
}

Value ToJson(const TriggerDefinition& definition) {
  Value sources = Value::EmptyArray();
  for (const TriggerSource& source : definition.sources) {
    Value changed = Value::EmptyArray();
    for (const std::string& column : source.changed) changed.Append(Value(column));
    sources.Append(Value::Object({{"keyspace", Value::Unsigned(source.keyspace)},
                                  {"name", source.name},
                                  {"inserted", ToJson(source.inserted)},
                                  {"updated", ToJson(source.updated)},
                                  {"deleted", ToJson(source.deleted)},
                                  {"when", source.when},
                                  {"changed", std::move(changed)}}));
  }
  return Value::Object({{"name", definition.name},
                        {"consumer", Value(definition.consumer)},
                        {"sequence", Value(definition.with_sequence)},
                        {"held", Value(definition.held)},
                        {"sources", std::move(sources)}});
}

Result<TriggerDefinition> TriggerDefinitionFromJson(const Value& value) {
  if (!value["name"].is_string()) return Unexpected(Damaged());
  const auto is_true = [&](const char* name) {
    return value[name].is_bool() && value[name].AsBool();
  };
  TriggerDefinition definition{.name = std::string(value["name"].AsString()),
                               .consumer = is_true("consumer"),
                               .with_sequence = is_true("sequence"),
                               .held = is_true("held"),
                               .sources = {}};
  for (const Value& item : value["sources"].items()) {
    if (!item["keyspace"].is_int() || !item["name"].is_string() || !item["when"].is_string()) {
      return Unexpected(Damaged());
    }
    TriggerSource source;
    source.keyspace = static_cast<db::KeyspaceId>(item["keyspace"].AsInt());
    source.name = item["name"].AsString();
    source.when = item["when"].AsString();
    ASSIGN_OR_RETURN(source.inserted, EventFromJson(item["inserted"]));
    ASSIGN_OR_RETURN(source.updated, EventFromJson(item["updated"]));
    ASSIGN_OR_RETURN(source.deleted, EventFromJson(item["deleted"]));
    for (const Value& column : item["changed"].items()) {
      if (!column.is_string()) return Unexpected(Damaged());
      source.changed.emplace_back(column.AsString());
    }
    definition.sources.push_back(std::move(source));
  }
  return definition;
}

}  // namespace sluice::procedure
