// A row of `meta`, "copy" within the shard, marks a shard whose copy is not complete. The batch
// that begins a load writes it and deletes all other rows; the last one writes the shard's own row
// and deletes the mark. The store keeps the order of batches, so a crash that loses some of them
// leaves the mark, or a complete shard.
#include "db/shard_copy.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "db/catalog_rows.h"
#include "db/database_impl.h"
#include "db/row_key.h"

namespace sluice::db {
namespace {

using storage::Family;

constexpr size_t kBatchBytes = 1 << 20;
constexpr std::string_view kMark = "copy";
constexpr std::string_view kMarked = "\x01";

storage::IterateOptions RowsOf(ShardId shard, const storage::Snapshot* snapshot = nullptr) {
  storage::IterateOptions range;
  range.snapshot = snapshot;
  range.lower = RowKey(shard);
  range.upper = ShardEnd(shard);
  range.fill_cache = false;
  return range;
}

Status CheckShard(ShardId shard, uint16_t shards) {
  if (shard < shards) return OkStatus();
  return Error(Code::kInvalidArgument, "commit.malformed", "there is no shard {}", shard);
}

// What a batch of a copy has: rows of the shard and nothing else.
class CopyReader final : public storage::BatchVisitor {
 public:
  explicit CopyReader(ShardId shard)
      : prefix_(RowKey(shard)), state_key_(ShardState::Key(shard)), mark_(RowKey(shard, kMark)) {}

  void Put(Family family, std::string_view key, std::string_view value) override {
    if (!key.starts_with(prefix_)) fits = false;
    if (family != Family::kMeta) return;
    if (key == mark_) fits = false;
    if (key == state_key_) {
      const auto decoded = ShardState::Decode(value);
      if (!decoded) fits = false;
      if (decoded) state = *decoded;
    } else {
      meta_keys.emplace_back(KeyInShard(key));
    }
  }
  void Delete(Family, std::string_view) override { fits = false; }
  void DeleteRange(Family, std::string_view, std::string_view) override { fits = false; }

  bool fits = true;
  std::optional<ShardState> state;
  std::vector<std::string> meta_keys;

 private:
  const std::string prefix_;
  const std::string state_key_;
  const std::string mark_;
};

}  // namespace

// --- copying ------------------------------------------------------------------------------------

Result<std::unique_ptr<ShardCopy>> ShardCopies::Copy(ShardId shard) const {
  RETURN_IF_ERROR(CheckShard(shard, impl_->format.shards));
  std::unique_ptr<ShardCopy> copy(new ShardCopy(*impl_->store, shard));
  copy->snapshot_ = impl_->store->NewSnapshot();
  ASSIGN_OR_RETURN(const bool marked, impl_->IsIncomplete(shard, copy->snapshot_.get()));
  if (marked) return Unexpected(impl_->IncompleteError(shard));
  ASSIGN_OR_RETURN(copy->state_, ShardState::Load(*impl_->store, shard, copy->snapshot_.get()));
  return copy;
}

void ShardCopy::OpenFamily() {
  rows_ = store_.NewIterator(static_cast<Family>(family_), RowsOf(shard_, snapshot_.get()));
  rows_->SeekToFirst();
}

Result<std::optional<std::string>> ShardCopy::Next() {
  if (ended_) return std::nullopt;
  const std::string state_key = ShardState::Key(shard_);
  storage::Batch batch;
  for (; family_ < storage::kFamilyCount; ++family_, rows_ = nullptr) {
    if (rows_ == nullptr) OpenFamily();
    const auto family = static_cast<Family>(family_);
    for (; rows_->Valid(); rows_->Next()) {
      if (family == Family::kMeta && rows_->key() == state_key) continue;
      if (batch.bytes() >= kBatchBytes) return batch.Serialize();
      batch.Put(family, rows_->key(), rows_->value());
    }
    RETURN_IF_ERROR(rows_->status());
  }
  batch.Put(Family::kMeta, state_key, state_.Encode());
  ended_ = true;
  return batch.Serialize();
}

// --- loading ------------------------------------------------------------------------------------

Result<std::unique_ptr<ShardLoad>> ShardCopies::Load(ShardId shard) {
  RETURN_IF_ERROR(CheckShard(shard, impl_->format.shards));
  if (impl_->ownership.Owns(shard)) {
    return Fail(Code::kConflict, "group.not_standby",
                "shard {} takes commits here, and no copies of others", shard);
  }
  std::unique_ptr<ShardLoad> load(new ShardLoad(*impl_, shard));
  RETURN_IF_ERROR(load->Begin());
  return load;
}

bool ShardCopies::Incomplete(ShardId shard) const {
  return impl_->incomplete.Lock()->contains(shard);
}

Status ShardLoad::Begin() {
  storage::Batch batch;
  for (size_t i = 0; i < storage::kFamilyCount; ++i) {
    const auto family = static_cast<Family>(i);
    if (family != Family::kMeta) {
      batch.DeleteRange(family, RowKey(shard_), ShardEnd(shard_));
      continue;
    }
    const auto rows = impl_.store->NewIterator(family, RowsOf(shard_));
    for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
      batch.Delete(family, rows->key());
      if (rows->key() != ShardState::Key(shard_)) meta_keys_.emplace(KeyInShard(rows->key()));
    }
    RETURN_IF_ERROR(rows->status());
  }
  batch.Put(Family::kMeta, RowKey(shard_, kMark), kMarked);
  impl_.incomplete.Lock()->insert(shard_);
  impl_.coverage.EndAll(shard_);
  impl_.committers[shard_]->Replace({});
  return impl_.store->Write(&batch, storage::Sync::kNo);
}

Status ShardLoad::Add(std::string_view bytes) {
  ASSIGN_OR_RETURN(storage::Batch batch, storage::Batch::Parse(bytes));
  CopyReader reader(shard_);
  batch.ForEach(reader);
  if (!reader.fits || complete_) {
    return Error(Code::kCorruption, "group.corrupt",
                 "the bytes are no next part of a copy of shard {}", shard_);
  }
  meta_keys_.insert(reader.meta_keys.begin(), reader.meta_keys.end());
  if (reader.state) return Complete(*reader.state, &batch);
  return impl_.store->Write(&batch, storage::Sync::kNo);
}

Status ShardLoad::Complete(const ShardState& state, storage::Batch* batch) {
  // A shard without commits has no row.
  if (state.sequence == 0) batch->Delete(Family::kMeta, ShardState::Key(shard_));
  batch->Delete(Family::kMeta, RowKey(shard_, kMark));
  meta_keys_.erase(std::string(kMark));
  RETURN_IF_ERROR(impl_.FollowCopy(shard_, meta_keys_, batch));
  Committed committed{.sequence = state.sequence};
  for (const auto& [id, keyspace] : impl_.CurrentCatalog()->keyspaces()) {
    if (keyspace->logged) committed.keyspaces.push_back(id);
  }
  std::ranges::sort(committed.keyspaces);
  committed.meta_keys.assign(meta_keys_.begin(), meta_keys_.end());
  impl_.incomplete.Lock()->erase(shard_);
  impl_.committers[shard_]->Replace(state);
  impl_.committers[shard_]->NotifyListeners(committed);
  complete_ = true;
  return OkStatus();
}

// --- what is in memory
// ----------------------------------------------------------------------------

Result<bool> DatabaseImpl::IsIncomplete(ShardId shard, const storage::Snapshot* snapshot) const {
  std::string mark;
  return store->Get(Family::kMeta, RowKey(shard, kMark), &mark, snapshot);
}

Status DatabaseImpl::IncompleteError(ShardId shard) {
  return Error(Code::kConflict, "shard.incomplete",
               "the copy of shard {} is not complete here: load it again", shard);
}

// The catalog is made before its last rows are written: what can't be read is not written. Then
// coverage follows from the cursors, as after opening.
Status DatabaseImpl::FollowCopy(ShardId shard, const std::set<std::string>& meta_keys,
                                storage::Batch* batch) {
  if (shard != kDefinitionsShard) {
    RETURN_IF_ERROR(store->Write(batch, storage::Sync::kNo));
    return LoadCoverage(shard);
  }
  const Changing changing(catalog_changes_);
  CatalogRowMap rows;
  for (const std::string& key : meta_keys) {
    if (!key.starts_with(kCatalogPrefix)) continue;
    std::string value;
    ASSIGN_OR_RETURN(const bool found, store->Get(Family::kMeta, RowKey(shard, key), &value));
    rows[key] = found ? std::optional(std::move(value)) : std::nullopt;
  }
  for (auto& [key, value] : CatalogRowMapOf(*batch)) rows.insert_or_assign(key, std::move(value));
  ASSIGN_OR_RETURN(
      const std::shared_ptr<const Catalog> after,
      CatalogEdit::FromRows(*CurrentCatalog(), rows, options.index_compiler.get(), &policies));
  RETURN_IF_ERROR(store->Write(batch, storage::Sync::kNo));
  catalog_.Set(after);
  if (after->typed()) typed = true;
  for (ShardId each = 0; each < format.shards; ++each) {
    coverage.EndAll(each);
    RETURN_IF_ERROR(LoadCoverage(each));
  }
  return OkStatus();
}

}  // namespace sluice::db
