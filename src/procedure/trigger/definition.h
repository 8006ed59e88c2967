// The definition of a trigger or a consumer: the keyspaces that it follows, the changes that are
// events for it, and the columns that an event carries. Each is a meta row
// (docs/formats/triggers.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/catalog.h"
#include "db/table_schema.h"
#include "json/value.h"
#include "query/bind/binder.h"
#include "query/parse/ast.h"

namespace sluice::procedure {

using json::Value;

inline constexpr size_t kMaxTriggerName = 28;

// The columns of a row that an event of one type carries.
struct EventColumns {
  struct Column {
    std::string name;
    // At the time when the trigger was created; empty for a field of documents.
    std::optional<db::ColumnType> type;
    bool operator==(const Column&) const = default;
  };
  bool whole = false;  // the event carries the whole document, and there are no columns
  std::vector<Column> columns;
  bool operator==(const EventColumns&) const = default;
};

struct TriggerSource {
  db::KeyspaceId keyspace = 0;
  std::string name;  // as it was written
  // Changes of a type whose member is empty are no events.
  std::optional<EventColumns> inserted;
  std::optional<EventColumns> updated;
  std::optional<EventColumns> deleted;
  std::string when;                  // SQL++ over new, old and type; empty for none
  std::vector<std::string> changed;  // an update that changes none of these is no event
  bool operator==(const TriggerSource&) const = default;
};

struct TriggerDefinition {
  std::string name;  // also that of its procedure
  bool consumer = false;
  bool with_sequence = false;
  bool held = false;  // an operator has stopped it for now
  std::vector<TriggerSource> sources;

  const TriggerSource* Find(db::KeyspaceId keyspace) const;
  bool operator==(const TriggerDefinition&) const = default;
};

// The shards that have its events: that of the tables, or all if it follows a collection.
std::vector<db::ShardId> ShardsOf(const TriggerDefinition& definition, uint16_t shard_count);

// The follower whose cursors are its places in the logs, and the owner of its dead letters.
std::string FollowerOf(std::string_view trigger);
inline constexpr std::string_view kTriggerFollowers = "trigger:";

// The definition that a CREATE statement describes. Errors: trigger.invalid_name,
// trigger.unknown_column, trigger.twice, trigger.default_of_many, those of the query engine for
// keyspaces.
Result<TriggerDefinition> DefinitionOf(const query::TriggerStatement& statement,
                                       const db::Catalog& catalog,
                                       const query::QueryContext& context);

Value ToJson(const TriggerDefinition& definition);
Result<TriggerDefinition> TriggerDefinitionFromJson(const Value& value);

}  // namespace sluice::procedure
