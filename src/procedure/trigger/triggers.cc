#include "procedure/trigger/triggers.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/log.h"
#include "db/catalog_rows.h"
#include "procedure/trigger/compare.h"

namespace sluice::procedure {
namespace {

Status NotFound(const std::string& name) {
  return Error(Code::kNotFound, "trigger.not_found", "there is no trigger or consumer '{}'", name);
}

// Whether the trigger goes on with another definition: it is of the same kind and follows no other
// keyspaces than before.
bool KeepsQueue(const TriggerDefinition& present, const TriggerDefinition& next) {
  return present.consumer == next.consumer &&
         std::ranges::all_of(next.sources, [&](const TriggerSource& source) {
           return present.Find(source.keyspace) != nullptr;
         });
}

}  // namespace

Triggers::Triggers(query::QueryEngine& engine, const Store& store, lua::Limits limits)
    : engine_(engine), store_(store), limits_(limits), commits_(engine.database()) {}

Triggers::~Triggers() { Stop(); }

Status Triggers::Start() {
  refresher_ =
      std::make_unique<db::RowRefresher>(engine_.database(), std::string(kTriggerRows), "triggers",
                                         [this](const std::string& name) { OnRowChanged(name); });
  RETURN_IF_ERROR(Load());
  RETURN_IF_ERROR(ReconcileFollowers());
  RETURN_IF_ERROR(ReconcileDeadLetters());
  refresher_->Start();
  engine_.database().ownership().Add(this);
  return OkStatus();
}

void Triggers::Stop() {
  refresher_.reset();
  engine_.database().ownership().Remove(this);
  const LiveByName live = live_.Exchange({});
  const auto retired = retired_.Exchange({});
  for (const auto& [name, trigger] : live) {
    if (trigger->runner != nullptr) trigger->runner->Stop();
    trigger->queue->Drop();
  }
}

void Triggers::Gained(db::ShardId shard) {
  gate_->Open(shard);
  for (const auto& live : All()) live->queue->signal().Wake();
}

// Clients that wait for events of the shard wake, and wait for those of other shards.
void Triggers::Lost(db::ShardId shard) {
  gate_->Close(shard);
  for (const auto& live : All()) {
    if (live->runner != nullptr) live->runner->EndRunIn(shard);
    live->queue->signal().Wake();
  }
  gate_->AwaitEmpty(shard);
}

Status Triggers::Load() {
  db::RowRange options;
  options.from = kTriggerRows;
  options.to = PrefixEnd(kTriggerRows);
  const auto iterator =
      engine_.database().rows().NewIterator(db::RowFamily::kMeta, db::kDefinitionsShard, options);
  std::vector<TriggerDefinition> definitions;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    ASSIGN_OR_RETURN(const Value row, db::DecodeMetaJson(iterator->key(), iterator->value()));
    ASSIGN_OR_RETURN(TriggerDefinition definition, TriggerDefinitionFromJson(row));
    definitions.push_back(std::move(definition));
  }
  RETURN_IF_ERROR(iterator->status());
  for (TriggerDefinition& definition : definitions) {
    // The statement that created it did not succeed.
    if (!HasFollower(definition.name)) {
      RETURN_IF_ERROR(Save(definition.name, nullptr));
      continue;
    }
    RETURN_IF_ERROR(Launch(std::make_shared<const TriggerDefinition>(std::move(definition))));
  }
  return OkStatus();
}

// Drops followers whose definition is gone: they would hold the log for nobody.
Status Triggers::ReconcileFollowers() {
  const auto catalog = engine_.database().catalog();
  for (const auto& [name, follower] : catalog->followers()) {
    if (!name.starts_with(kTriggerFollowers)) continue;
    if (Has(name.substr(kTriggerFollowers.size()))) continue;
    RETURN_IF_ERROR(engine_.database().followers().Drop(name));
  }
  return OkStatus();
}

// Drops dead letters whose trigger is gone.
Status Triggers::ReconcileDeadLetters() {
  ASSIGN_OR_RETURN(const std::vector<std::string> owners, failure::Owners(engine_.database()));
  for (const std::string& owner : owners) {
    if (!owner.starts_with(kTriggerFollowers)) continue;
    if (Has(owner.substr(kTriggerFollowers.size()))) continue;
    RETURN_IF_ERROR(failure::DropOwner(engine_.database(), owner));
  }
  return OkStatus();
}

Status Triggers::Save(const std::string& name, const TriggerDefinition* definition) {
  db::Commit commit;
  std::optional<std::string> row;
  if (definition != nullptr) row = db::EncodeMetaJson(ToJson(*definition));
  commit.rows.push_back({db::RowFamily::kMeta, db::kDefinitionsShard,
                         std::string(kTriggerRows) + name, std::move(row), std::nullopt});
  return engine_.database().Apply(std::move(commit)).status;
}

bool Triggers::HasFollower(const std::string& name) const {
  return engine_.database().catalog()->FindFollower(FollowerOf(name)) != nullptr;
}

Result<std::shared_ptr<const TriggerDefinition>> Triggers::Stored(const std::string& name) const {
  const std::string key = std::string(kTriggerRows) + name;
  std::string row;
  ASSIGN_OR_RETURN(const bool found, engine_.database().rows().Get(
                                         db::RowFamily::kMeta, db::kDefinitionsShard, key, &row));
  if (!found) return nullptr;
  ASSIGN_OR_RETURN(const Value value, db::DecodeMetaJson(key, row));
  ASSIGN_OR_RETURN(TriggerDefinition definition, TriggerDefinitionFromJson(value));
  return std::make_shared<const TriggerDefinition>(std::move(definition));
}

Status Triggers::Refresh(const std::string& name) {
  ASSIGN_OR_RETURN(auto stored, Stored(name));
  if (stored != nullptr && !HasFollower(name)) stored = nullptr;
  if (const auto queue = Find(name)) {
    const auto present = (*queue)->definition();
    if (stored != nullptr && *stored == *present) return OkStatus();
    if (stored != nullptr && KeepsQueue(*present, *stored)) {
      (*queue)->SetDefinition(stored);
      return OkStatus();
    }
    Retire(name);
  }
  return stored == nullptr ? OkStatus() : Launch(stored);
}

void Triggers::OnRowChanged(const std::string& name) {
  const MutexLock change(change_mutex_);
  const Status refreshed = Refresh(name);
  if (refreshed.ok()) return;
  log::Error("a changed trigger can't be used; it goes on as it was",
             {{"trigger", name}, {"error", refreshed.ToString()}});
}

Status Triggers::CreateFollower(const TriggerDefinition& definition) {
  db::FollowerOptions options;
  options.name = FollowerOf(definition.name);
  for (const TriggerSource& source : definition.sources) {
    options.keyspaces.push_back(source.keyspace);
  }
  options.needs_before = true;
  options.needs_after = true;
  return engine_.database().followers().Create(options);
}

Status Triggers::Create(TriggerDefinition definition) {
  const MutexLock change(change_mutex_);
  if (Has(definition.name)) {
    return Error(Code::kAlreadyExists, "trigger.exists",
                 "there is a trigger or consumer '{}' already", definition.name);
  }
  ASSIGN_OR_RETURN(const auto program, store_.Find(definition.name));
  if (live_.Lock()->size() >= kMaxTriggers) {
    return Error(Code::kTooLarge, "trigger.too_many",
                 "there are {} triggers and consumers, the most there may be", kMaxTriggers);
  }
  ASSIGN_OR_RETURN(const auto checked,
                   EventMaker::Make(engine_, std::make_shared<TriggerDefinition>(definition)));
  // Whoever sees the row finds the follower.
  RETURN_IF_ERROR(CreateFollower(definition));
  if (const Status saved = Save(definition.name, &definition); !saved.ok()) {
    RETURN_IF_ERROR(engine_.database().followers().Drop(FollowerOf(definition.name)));
    return saved;
  }
  return Refresh(definition.name);
}

Status Triggers::Replace(TriggerDefinition definition) {
  if (!Has(definition.name)) return Create(std::move(definition));
  const MutexLock change(change_mutex_);
  ASSIGN_OR_RETURN(const auto queue, Find(definition.name));
  const auto present = queue->definition();
  if (!CanReplace(*present, definition)) {
    return Error(Code::kAlreadyExists, "trigger.exists",
                 "there is a {} '{}' already that stands on other tables or is of another kind: "
                 "drop it first, with the events that wait for it",
                 present->consumer ? "consumer" : "trigger", definition.name);
  }
  definition.held = present->held;
  if (definition == *present) return OkStatus();
  ASSIGN_OR_RETURN(const auto checked,
                   EventMaker::Make(engine_, std::make_shared<TriggerDefinition>(definition)));
  RETURN_IF_ERROR(Save(definition.name, &definition));
  return Refresh(definition.name);
}

Status Triggers::Launch(std::shared_ptr<const TriggerDefinition> definition) {
  const std::string name = definition->name;
  const auto live = std::make_shared<Live>();
  live->queue = std::make_shared<LiveQueue>(definition, gate_);
  live->dead_letters = std::make_shared<failure::FailureList>(engine_.database(), FollowerOf(name));
  RETURN_IF_ERROR(live->dead_letters->Load());
  std::vector<db::KeyspaceId> keyspaces;
  for (const TriggerSource& source : definition->sources) keyspaces.push_back(source.keyspace);
  live->subscription =
      commits_.Subscribe(keyspaces, [queue = live->queue] { queue->signal().Wake(); });
  if (!definition->consumer) {
    live->runner =
        std::make_shared<TriggerRunner>(engine_, store_, live->queue, live->dead_letters, limits_);
  }
  live_.Lock()->emplace(name, live);
  // Lost finds it from now on.
  if (live->runner != nullptr) live->runner->Start();
  return OkStatus();
}

// Does not wait for the runner's thread, which ends soon: a later call joins it, or Stop.
void Triggers::Retire(const std::string& name) {
  const auto found = LiveOf(name);
  if (!found) return;
  const Live& live = **found;
  live_.Lock()->erase(name);
  live.queue->Drop();
  if (live.runner == nullptr) return;
  live.runner->Stop();
  auto retired = retired_.Exchange({});
  std::erase_if(retired, [](const auto& runner) {
    return runner->progress().state == TriggerProgress::State::kStopped;
  });
  retired.push_back(live.runner);
  retired_.Set(std::move(retired));
}

Status Triggers::Drop(const std::string& name) {
  const MutexLock change(change_mutex_);
  if (!Has(name)) return NotFound(name);
  RETURN_IF_ERROR(Save(name, nullptr));
  RETURN_IF_ERROR(Refresh(name));
  // Without a cursor to move, its thread adds no dead letter from here on.
  RETURN_IF_ERROR(engine_.database().followers().Drop(FollowerOf(name)));
  return failure::DropOwner(engine_.database(), FollowerOf(name));
}

Status Triggers::Hold(const std::string& name, bool held) {
  const MutexLock change(change_mutex_);
  ASSIGN_OR_RETURN(const auto queue, Find(name));
  TriggerDefinition definition = *queue->definition();
  if (definition.held == held) return OkStatus();
  definition.held = held;
  RETURN_IF_ERROR(Save(name, &definition));
  return Refresh(name);
}

Status Triggers::Forget(db::KeyspaceId keyspace) {
  for (const std::string& name : On(keyspace)) {
    const auto queue = Find(name);
    if (!queue) continue;
    if ((*queue)->definition()->sources.size() == 1) {
      RETURN_IF_ERROR(Drop(name));
      continue;
    }
    const MutexLock change(change_mutex_);
    TriggerDefinition definition = *(*queue)->definition();
    std::erase_if(definition.sources,
                  [&](const TriggerSource& source) { return source.keyspace == keyspace; });
    RETURN_IF_ERROR(Save(name, &definition));
    RETURN_IF_ERROR(Refresh(name));
  }
  return OkStatus();
}

std::vector<std::string> Triggers::On(db::KeyspaceId keyspace) const {
  std::vector<std::string> names;
  for (const auto& live : All()) {
    const auto definition = live->queue->definition();
    if (definition->Find(keyspace) != nullptr) names.push_back(definition->name);
  }
  return names;
}

Result<std::shared_ptr<const Triggers::Live>> Triggers::LiveOf(const std::string& name) const {
  const auto live = live_.Lock();
  const auto found = live->find(name);
  if (found == live->end()) return Unexpected(NotFound(name));
  return found->second;
}

std::vector<std::shared_ptr<const Triggers::Live>> Triggers::All() const {
  std::vector<std::shared_ptr<const Live>> all;
  const auto live = live_.Lock();
  for (const auto& [name, trigger] : *live) all.push_back(trigger);
  return all;
}

bool Triggers::Has(const std::string& name) const { return live_.Lock()->contains(name); }

Result<std::shared_ptr<LiveQueue>> Triggers::Find(const std::string& name) const {
  ASSIGN_OR_RETURN(const auto live, LiveOf(name));
  return live->queue;
}

Result<TriggerProgress> Triggers::ProgressOf(const std::string& name) const {
  ASSIGN_OR_RETURN(const auto live, LiveOf(name));
  return live->runner == nullptr ? TriggerProgress() : live->runner->progress();
}

namespace {

void AppendRows(const TriggerDefinition& definition, const TriggerSource& source,
                std::string_view type, const std::optional<EventColumns>& event,
                std::vector<Value>* rows) {
  if (!event) return;
  const auto row = [&](Value column) {
    rows->push_back(Value::Object({{"name", definition.name},
                                   {"type", definition.consumer ? "consumer" : "trigger"},
                                   {"tbl_name", source.name},
                                   {"event", type},
                                   {"col", std::move(column)},
                                   {"seq", definition.with_sequence ? "Y" : "N"}}));
  };
  if (event->whole) row(Value(nullptr));
  for (const EventColumns::Column& column : event->columns) row(Value(column.name));
}

}  // namespace

std::vector<Value> Triggers::List() const {
  std::vector<Value> rows;
  for (const auto& live : All()) {
    const auto definition = live->queue->definition();
    for (const TriggerSource& source : definition->sources) {
      AppendRows(*definition, source, "add", source.inserted, &rows);
      AppendRows(*definition, source, "upd", source.updated, &rows);
      AppendRows(*definition, source, "del", source.deleted, &rows);
    }
  }
  return rows;
}

std::vector<Value> Triggers::ListQueues() const {
  std::vector<Value> rows;
  for (const auto& live : All()) {
    const auto definition = live->queue->definition();
    const auto waiting = WaitingOf(*live);
    if (!waiting) continue;  // it was dropped meanwhile
    const uint64_t now_ms = engine_.database().clock().WallMs();
    const Value age =
        waiting->head ? Value::Unsigned((now_ms - waiting->head->time_ms) / 1000) : Value(0);
    rows.push_back(
        Value::Object({{"queuename", "__q" + definition->name},
                       {"spname", definition->name},
                       {"head_age", age},
                       {"depth", Value::Unsigned(waiting->depth)},
                       {"total_enqueued", Value::Unsigned(waiting->consumed + waiting->depth)},
                       {"total_dequeued", Value::Unsigned(waiting->consumed)}}));
  }
  return rows;
}

}  // namespace sluice::procedure
