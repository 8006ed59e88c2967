#include "procedure/trigger/event.h"

#include <charconv>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/log.h"
#include "db/row.h"
#include "json/parse.h"

namespace sluice::procedure {
namespace {

// A commit's sequence in an id: a shard would need 8,900 years of a thousand commits a second for
// more.
constexpr int kSequenceBits = 48;
// Of an event besides its rows, about.
constexpr size_t kEventBytes = 256;

std::string_view TypeOf(db::Operation operation) {
  switch (operation) {
    case db::Operation::kInsert:
      return "add";
    case db::Operation::kUpdate:
      return "upd";
    default:
      return "del";
  }
}

const std::optional<EventColumns>& ColumnsFor(const TriggerSource& source,
                                              db::Operation operation) {
  switch (operation) {
    case db::Operation::kInsert:
      return source.inserted;
    case db::Operation::kUpdate:
      return source.updated;
    default:
      return source.deleted;
  }
}

// A document as it is stored; missing when there is none.
Result<Value> Stored(const std::optional<db::DocumentView>& view) {
  if (!view || view->tombstone) return Value();
  if (view->datatype != db::Datatype::kJson) return Value::Bytes(view->body);
  return json::Parse(view->body);
}

// A whole number in a column of doubles is stored as one.
Value Loaded(db::ColumnType type, const Value& stored) {
  const bool real = type == db::ColumnType::kDouble || type == db::ColumnType::kFloat;
  if (real && stored.is_int()) return Value(stored.ToDouble());
  return db::LoadColumn(type, stored);
}

Value Projected(const Value& stored, const EventColumns& columns) {
  if (stored.is_missing() || columns.whole) return stored;
  Value row = Value::EmptyObject();
  for (const EventColumns::Column& column : columns.columns) {
    const Value& value = stored[std::string_view(column.name)];
    if (column.type) {
      row.Set(column.name, Loaded(*column.type, value));
    } else if (!value.is_missing()) {
      row.Set(column.name, value);
    }
  }
  return row;
}

// A row with typed values, as conditions see it.
Value Typed(const Value& stored, const db::TableSchema* schema) {
  if (schema == nullptr || stored.is_missing()) return stored;
  Value row = Value::EmptyObject();
  for (const db::TableColumn& column : schema->columns) {
    row.Set(column.name, db::LoadColumn(column.type, stored[std::string_view(column.name)]));
  }
  return row;
}

// `commit` and `n` are the two numbers of an id.
EventPlace PlaceOf(uint64_t commit, uint32_t n) {
  return {static_cast<db::ShardId>(commit >> kSequenceBits),
          {commit & ((uint64_t{1} << kSequenceBits) - 1), n}};
}

// One row, true, when the condition holds.
constexpr std::string_view kCondition =
    "SELECT RAW true FROM [$1] AS event_ LET `new` = event_.`new`, `old` = event_.`old`, `type` = "
    "event_.`type` WHERE ({})";

}  // namespace

std::string EventId(const EventPlace& place) {
  CHECK(place.position.sequence < uint64_t{1} << kSequenceBits);
  std::string id;
  AppendU64(&id, uint64_t{place.shard} << kSequenceBits | place.position.sequence);
  AppendU32(&id, place.position.n);
  return id;
}

std::optional<EventPlace> PlaceOfId(std::string_view id) {
  if (id.size() != kEventIdBytes) return std::nullopt;
  ByteReader reader(id);
  const uint64_t commit = reader.U64();
  return PlaceOf(commit, reader.U32());
}

std::optional<EventPlace> PlaceOfHexId(std::string_view digits) {
  constexpr size_t kCommitDigits = 16;
  if (digits.size() != 2 * kEventIdBytes) return std::nullopt;
  uint64_t commit = 0;
  uint32_t n = 0;
  const char* const middle = digits.data() + kCommitDigits;
  const char* const end = digits.data() + digits.size();
  const auto commit_read = std::from_chars(digits.data(), middle, commit, 16);
  const auto n_read = std::from_chars(middle, end, n, 16);
  if (commit_read.ptr != middle || n_read.ptr != end) return std::nullopt;
  return PlaceOf(commit, n);
}

std::string TriggerEvent::id() const { return EventId(place()); }

Result<EventMaker> EventMaker::Make(query::QueryEngine& engine,
                                    std::shared_ptr<const TriggerDefinition> definition) {
  EventMaker maker(engine, std::move(definition));
  for (const TriggerSource& source : maker.definition_->sources) {
    if (source.when.empty()) continue;
    ASSIGN_OR_RETURN(maker.conditions_[source.keyspace],
                     engine.Prepare(fmt::format(kCondition, source.when), {}));
  }
  return maker;
}

Result<std::optional<TriggerEvent>> EventMaker::EventOf(const db::Change& change) {
  return Make(change, Conditions::kAsk);
}

bool EventMaker::Counts(const db::Change& change) {
  const TriggerSource* const source = definition_->Find(change.keyspace);
  if (source == nullptr || !ColumnsFor(*source, change.operation)) return false;
  if (source->when.empty() && source->changed.empty()) return true;
  const auto event = EventOf(change);
  return !event || event->has_value();
}

Result<std::optional<TriggerEvent>> EventMaker::Unconditionally(const db::Change& change) {
  return Make(change, Conditions::kHold);
}

Result<std::optional<TriggerEvent>> EventMaker::Make(const db::Change& change,
                                                     Conditions conditions) {
  const TriggerSource* const source = definition_->Find(change.keyspace);
  if (source == nullptr) return std::nullopt;
  const std::optional<EventColumns>& columns = ColumnsFor(*source, change.operation);
  if (!columns) return std::nullopt;
  ASSIGN_OR_RETURN(const Value inserted, Stored(change.after));
  ASSIGN_OR_RETURN(const Value deleted, Stored(change.before));
  TriggerEvent event;
  event.type = TypeOf(change.operation);
  event.time_ms = change.time_ms;
  if (conditions == Conditions::kAsk && !Fires(*source, event, inserted, deleted)) {
    return std::nullopt;
  }
  const auto catalog = engine_->database().catalog();
  const db::KeyspaceInfo* const keyspace = catalog->Find(change.keyspace);
  const bool table = db::IsTableId(change.keyspace);
  event.name = table && keyspace != nullptr ? keyspace->table->name : source->name;
  if (!table) event.key = change.key;
  event.inserted = Projected(inserted, *columns);
  event.deleted = Projected(deleted, *columns);
  event.bytes = kEventBytes + change.key.size();
  if (change.after) event.bytes += change.after->body.size();
  if (change.before) event.bytes += change.before->body.size();
  return event;
}

bool EventMaker::Fires(const TriggerSource& source, const TriggerEvent& event,
                       const Value& inserted, const Value& deleted) const {
  if (event.type == "upd" && !source.changed.empty()) {
    bool changed = false;
    for (const std::string& name : source.changed) {
      changed = changed || inserted[std::string_view(name)] != deleted[std::string_view(name)];
    }
    if (!changed) return false;
  }
  const auto condition = conditions_.find(source.keyspace);
  if (condition == conditions_.end()) return true;
  const auto catalog = engine_->database().catalog();
  const db::KeyspaceInfo* const keyspace = catalog->Find(source.keyspace);
  const db::TableSchema* const schema = keyspace == nullptr ? nullptr : keyspace->table.get();
  query::RunRequest request;
  Value row = Value::Object({{"type", event.type}});
  row.Set("new", Typed(inserted, schema));
  row.Set("old", Typed(deleted, schema));
  request.positional.push_back(std::move(row));
  const auto run = engine_->Execute(condition->second, std::move(request));
  if (run && (*run)->Next()) return true;
  const Status status = run ? (*run)->status() : run.error();
  if (status.ok()) return false;
  // What can't be decided is left to the procedure: an event must not get lost.
  log::Warn("a trigger's condition failed",
            {{"trigger", definition_->name}, {"error", status.ToString()}});
  return true;
}

Result<std::unique_ptr<follow::LaneQueue>> OpenShardQueue(
    query::QueryEngine& engine, std::shared_ptr<const TriggerDefinition> definition,
    db::ShardId shard) {
  auto source = std::make_unique<follow::DatabaseSource>(engine.database(),
                                                         FollowerOf(definition->name), shard);
  ASSIGN_OR_RETURN(EventMaker made, EventMaker::Make(engine, std::move(definition)));
  const auto maker = std::make_shared<EventMaker>(std::move(made));
  const uint16_t shard_count = engine.database().shard_count();
  return follow::LaneQueue::Open(
      std::move(source),
      [maker, shard, shard_count](const db::Change& change,
                                  const db::CursorState&) -> Result<follow::EventPtr> {
        ASSIGN_OR_RETURN(std::optional<TriggerEvent> event, maker->EventOf(change));
        if (!event) return nullptr;
        event->shard = shard;
        event->shard_count = shard_count;
        return std::make_unique<TriggerEvent>(std::move(*event));
      });
}

}  // namespace sluice::procedure
