// Background work in the shards that this server owns: deleting expired documents, removing old
// tombstones, trimming the log, syncing the log at an interval, and finishing indexes whose
// building was interrupted. A shard may be lost meanwhile: its committer then refuses what is left.
#include <algorithm>

#include "base/log.h"
#include "db/database_impl.h"
#include "db/expiry.h"
#include "db/index.h"
#include "db/row_key.h"

namespace sluice::db {
namespace {

constexpr size_t kExpiryBatch = 256;
constexpr uint64_t kTombstoneRetryMs = 60'000;
constexpr uint64_t kTickMs = 50;
constexpr size_t kMaxSamples = 1000;

storage::IterateOptions AllOf(ShardId shard) {
  storage::IterateOptions range;
  range.lower = RowKey(shard);
  range.upper = ShardEnd(shard);
  return range;
}

// A follower of tables alone hears of nothing in other shards than theirs. Its cursors there stay
// where they were made, and need nothing.
bool HearsOf(const FollowerInfo& follower, ShardId shard) {
  return shard == kTablesShard || follower.pattern ||
         !std::ranges::all_of(follower.keyspaces, IsTableId);
}

void Report(const char* what, const Status& status) {
  if (!status.ok() && status.code() != Code::kUnavailable) {
    log::Warn("background work failed; the server tries it again",
              {{"work", what}, {"error", status.ToString()}});
  }
}

}  // namespace

void DatabaseImpl::StartBackground() {
  if (!background_.joinable()) background_ = Thread({"db background"}, [this] { Background(); });
}

void DatabaseImpl::StartIndexBuilding() {
  std::vector<std::shared_ptr<const Index>> unfinished;
  const std::shared_ptr<const Catalog> catalog = CurrentCatalog();
  for (const auto& [id, keyspace] : catalog->keyspaces()) {
    for (const auto& index : keyspace->indexes) {
      if (index->state() == Index::State::kBuilding) unfinished.push_back(index);
    }
  }
  if (unfinished.empty()) return;
  index_builder_ = Thread({"index build"}, [this, unfinished = std::move(unfinished)] {
    for (const auto& index : unfinished) Report("index building", BuildIndex(index));
  });
}

void DatabaseImpl::StopBackground() {
  background_end_.Close();
  if (background_.joinable()) background_.join();
  // An index that is still being built meets a stopped committer and goes on after the restart.
  for (auto& committer : committers) committer->Stop();
  if (index_builder_.joinable()) index_builder_.join();
}

void DatabaseImpl::Background() {
  // Ticks are the machine's, also where `clock` is one that a test moves.
  const auto next_tick = [] { return MachineClock().Now() + std::chrono::milliseconds(kTickMs); };
  for (uint64_t tick = 1; background_end_.Wait(0, next_tick()) != Signal::Waited::kClosed; ++tick) {
    Tick(tick);
  }
}

void DatabaseImpl::Tick(uint64_t tick) {
  const auto due = [tick](uint64_t interval_ms) {
    return interval_ms != 0 && tick % std::max<uint64_t>(1, interval_ms / kTickMs) == 0;
  };
  if (options.durability == Durability::kInterval && due(options.sync_interval_ms)) {
    Report("log sync", store->SyncLog());
  }
  if (due(options.expiry_interval_ms)) {
    const Result<uint64_t> done = Expire();
    if (!done) Report("expiry", done.error());
  }
  if (due(options.trim_interval_ms)) Report("log trim", TrimAll());
  if (due(options.access_interval_ms)) {
    StampAccesses();
    CompareSamples();
  }
}

// --- expiry -------------------------------------------------------------------------------------

namespace {

struct DueRows {
  Commit expirations;
  std::vector<std::string> tombstones;  // their keys in the expiry family
  bool none() const { return expirations.rows.empty() && tombstones.empty(); }
};

}  // namespace

// While a keyspace's types can't be used, it is not known which revisions and index rows an expired
// document has, so it can't be deleted. Readers do not see it nevertheless.
bool DatabaseImpl::MustWait(KeyspaceId keyspace) const {
  if (!typed.load(std::memory_order_relaxed)) return false;
  const std::shared_ptr<const Catalog> now = CurrentCatalog();
  const KeyspaceInfo* const info = now->Find(keyspace);
  return info != nullptr && info->policy != nullptr && !info->policy->CheckUsable().ok();
}

Result<uint64_t> DatabaseImpl::Expire() {
  uint64_t total = 0;
  RETURN_IF_ERROR(ForOwnedShards([&](ShardId shard) { return ExpireIn(shard, &total); }));
  return total;
}

// Two threads may run it at the same time: the second commit finds that the document has gone, and
// counts nothing.
Status DatabaseImpl::ExpireIn(ShardId shard, uint64_t* total) {
  while (true) {
    DueRows due;
    due.expirations.shard = shard;
    storage::IterateOptions range;
    range.lower = RowKey(shard);
    range.upper = ExpiryKeyFrom(shard, clock.WallMs() + 1);
    const auto iterator = store->NewIterator(storage::Family::kExpiry, std::move(range));
    size_t taken = 0;
    for (iterator->SeekToFirst(); iterator->Valid() && taken < kExpiryBatch; iterator->Next()) {
      ASSIGN_OR_RETURN(const ExpiryRow row, DecodeExpiryRow(iterator->key(), iterator->value()));
      if (row.kind == ExpiryKind::kTombstone) {
        due.tombstones.emplace_back(iterator->key());
        ++taken;
        continue;
      }
      if (MustWait(row.keyspace)) continue;
      ++taken;
      due.expirations.rows.push_back(
          {RowFamily::kExpiry, shard, std::string(KeyInShard(iterator->key())), {}, {}});
      if (CurrentCatalog()->Find(row.keyspace) == nullptr) continue;
      Write write = DeleteWrite(row.keyspace, std::string(row.key));
      write.kind = Write::Kind::kExpire;
      write.document.expiry_ms = row.due_ms;
      due.expirations.writes.push_back(std::move(write));
    }
    RETURN_IF_ERROR(iterator->status());
    if (due.none()) return OkStatus();
    if (!due.tombstones.empty()) RETURN_IF_ERROR(PurgeTombstones(shard, due.tombstones));
    if (due.expirations.rows.empty()) continue;
    const CommitResult result = committers[shard]->Apply(std::move(due.expirations));
    // A keyspace was dropped at this moment: the next round leaves it out.
    if (result.status.code() == Code::kNotFound) continue;
    RETURN_IF_ERROR(result.status);
    const auto done = std::count_if(result.writes.begin(), result.writes.end(),
                                    [](const WriteResult& write) { return write.cas != 0; });
    *total += static_cast<uint64_t>(done);
    expired += static_cast<uint64_t>(done);
  }
}

Sequence DatabaseImpl::TombstonesNeededAfter(ShardId shard, Sequence last) const {
  const std::shared_ptr<const Catalog> catalog = CurrentCatalog();
  Sequence lowest = last;
  const auto iterator = store->NewIterator(storage::Family::kCursor, AllOf(shard));
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    const Result<CursorId> cursor = DecodeCursorKey(iterator->key());
    const Result<CursorState> state = DecodeCursor(iterator->value());
    if (!cursor || !state) return 0;
    const FollowerInfo* const follower = catalog->FindFollower(cursor->follower);
    if (follower != nullptr && !HearsOf(*follower, shard)) continue;
    const bool catching_up = state->backfilling && state->backfill_from != 0;
    lowest = std::min(lowest, catching_up ? state->backfill_from : state->position.done());
  }
  return lowest;
}

// Removes tombstones that no durable follower can still need, and tries the others again later.
Status DatabaseImpl::PurgeTombstones(ShardId shard, const std::vector<std::string>& expiry_keys) {
  return committers[shard]->Run([&](Committer::TaskContext& context) -> Status {
    const Sequence needed_after = TombstonesNeededAfter(shard, context.state.sequence);
    storage::PinnedValue value;
    for (const std::string& expiry_key : expiry_keys) {
      context.batch.Delete(storage::Family::kExpiry, expiry_key);
      ASSIGN_OR_RETURN(const ExpiryRow row,
                       DecodeExpiryRow(expiry_key, ExpiryValue(ExpiryKind::kTombstone)));
      const std::string document_key = row.DocumentRowKey();
      ASSIGN_OR_RETURN(const bool found, store->Get(storage::Family::kDocs, document_key, &value));
      if (!found) continue;
      ASSIGN_OR_RETURN(const DocumentView view, DecodeDocument(value.view()));
      if (!view.tombstone) continue;
      if (view.sequence > needed_after) {
        context.batch.Put(storage::Family::kExpiry,
                          ExpiryKey(clock.WallMs() + kTombstoneRetryMs, document_key),
                          ExpiryValue(ExpiryKind::kTombstone));
        continue;
      }
      context.batch.Delete(storage::Family::kDocs, document_key);
      context.state.purged = std::max(context.state.purged, view.sequence);
    }
    return OkStatus();
  });
}

// --- trimming -----------------------------------------------------------------------------------

void DatabaseImpl::SampleSequences() {
  std::vector<Sequence> sequences;
  for (const auto& committer : committers) sequences.push_back(committer->last_sequence());
  const auto samples = sequence_samples_.Lock();
  samples->push_back({clock.MonotonicNs() / 1'000'000, std::move(sequences)});
  if (samples->size() > kMaxSamples) samples->pop_front();
}

// The shard's sequence log_retention_ms ago, or a bit earlier.
Sequence DatabaseImpl::RetainedSequence(ShardId shard) const {
  const uint64_t now_ms = clock.MonotonicNs() / 1'000'000;
  const auto samples = sequence_samples_.Lock();
  Sequence retained = 0;
  for (const auto& [time_ms, sequences] : *samples) {
    if (time_ms + options.log_retention_ms <= now_ms) retained = sequences[shard];
  }
  return retained;
}

// The last sequence whose log rows no follower needs any more.
Sequence DatabaseImpl::TrimHorizon(ShardId shard, Sequence last) const {
  const std::shared_ptr<const Catalog> catalog = CurrentCatalog();
  Sequence horizon = last;
  bool somebody_just_reads = catalog->HasTransientFollowers() ||
                             clock.MonotonicNs() / 1'000'000 < InheritedLogUntilMs(shard);
  const auto iterator = store->NewIterator(storage::Family::kCursor, AllOf(shard));
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    const Result<CursorId> cursor = DecodeCursorKey(iterator->key());
    const Result<CursorState> state = DecodeCursor(iterator->value());
    if (!cursor || !state) return 0;
    const FollowerInfo* follower = catalog->FindFollower(cursor->follower);
    if (follower != nullptr && !HearsOf(*follower, shard)) continue;
    if (follower != nullptr && !follower->holds_log) {
      somebody_just_reads = true;
      continue;
    }
    horizon = std::min(horizon, state->position.done());
  }
  if (somebody_just_reads) horizon = std::min(horizon, RetainedSequence(shard));
  return horizon;
}

// It is not known whether clients followed the earlier owner: log_retention_ms counts from when the
// shard was gained.
void DatabaseImpl::KeepInheritedLog(ShardId shard) {
  if (!HasLogRows(shard, committers[shard]->last_sequence())) return;
  (*inherited_log_until_ms_.Lock())[shard] =
      clock.MonotonicNs() / 1'000'000 + options.log_retention_ms;
}

uint64_t DatabaseImpl::InheritedLogUntilMs(ShardId shard) const {
  const auto until_ms = inherited_log_until_ms_.Lock();
  const auto found = until_ms->find(shard);
  return found == until_ms->end() ? 0 : found->second;
}

bool DatabaseImpl::HasLogRows(ShardId shard, Sequence up_to) const {
  storage::IterateOptions range;
  range.lower = LogKey(shard, committers[shard]->trimmed() + 1, 0);
  range.upper = LogKey(shard, up_to + 1, 0);
  const auto iterator = store->NewIterator(storage::Family::kLog, std::move(range));
  iterator->SeekToFirst();
  return iterator->Valid();
}

Status DatabaseImpl::TrimAll() {
  RETURN_IF_ERROR(ReleaseTransientFollowers());
  SampleSequences();
  return ForOwnedShards([this](ShardId shard) { return Trim(shard); });
}

Status DatabaseImpl::Trim(ShardId shard) {
  Committer& committer = *committers[shard];
  const Sequence estimate = TrimHorizon(shard, committer.last_sequence());
  if (estimate <= committer.trimmed() || !HasLogRows(shard, estimate)) return OkStatus();
  // Computed again between two groups: no cursor can be made or moved meanwhile.
  return committer.Run([&](Committer::TaskContext& context) {
    const Sequence horizon = TrimHorizon(shard, context.state.sequence - 1);
    if (horizon > context.state.trimmed) {
      context.batch.DeleteRange(storage::Family::kLog, LogKey(shard, 0, 0),
                                LogKey(shard, horizon + 1, 0));
      context.state.trimmed = horizon;
    }
    return OkStatus();
  });
}

// Stops logging keyspaces for clients that have not come back.
Status DatabaseImpl::ReleaseTransientFollowers() {
  if (!OwnsAll()) return OkStatus();
  const uint64_t now_ms = clock.MonotonicNs() / 1'000'000;
  std::vector<Departed> gone;
  {
    const auto departures = departures_->Lock();
    for (Departed& departed : *departures) {
      if (!departed.seen_ms) departed.seen_ms = now_ms;
    }
    const auto stay = std::ranges::partition(*departures, [&](const Departed& departed) {
      return *departed.seen_ms + options.log_retention_ms > now_ms;
    });
    gone.assign(stay.begin(), stay.end());
    departures->erase(stay.begin(), stay.end());
  }
  if (gone.empty()) return OkStatus();
  Status released = ChangeCatalog([&](CatalogEdit& edit) {
    for (const Departed& departed : gone) edit.RemoveTransientFollower(departed.keyspace);
    return OkStatus();
  });
  if (!released.ok()) {
    const auto departures = departures_->Lock();
    departures->insert(departures->end(), gone.begin(), gone.end());
  }
  return released;
}

}  // namespace sluice::db
