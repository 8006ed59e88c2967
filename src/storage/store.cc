// RocksDB options are chosen for these facts: one writer thread per shard (the committer) that does
// its own group commit; small keys; values of about 1 KB with a few large ones; a log that is
// written once, read once and trimmed from the front.
//
// Recovery: kTolerateCorruptedTailRecords accepts a torn last record (never acknowledged) of any
// write-ahead log. It also accepts other damage; WalGuard refuses that before RocksDB reads the
// log.
#include "storage/store.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>
#include <vector>

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>
#include <rocksdb/slice.h>
#include <rocksdb/snapshot.h>
#include <rocksdb/table.h>
#include <rocksdb/table_properties.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/version.h>
#include <rocksdb/write_batch.h>

#include "base/check.h"
#include "storage/column_family.h"
#include "storage/flush_gate.h"
#include "storage/rocks_log.h"
#include "storage/rocks_status.h"
#include "storage/wal_guard.h"

namespace sluice::storage {
namespace {

rocksdb::Slice ToSlice(std::string_view view) { return {view.data(), view.size()}; }
std::string_view ToView(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

rocksdb::ColumnFamilyOptions FamilyOptions(Family family, const StoreOptions& options,
                                           const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.format_version = 5;
  if (family == Family::kDocs || family == Family::kRevision) {
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  }
  if (family == Family::kDocs) {
    // Documents have about 1 KB: with larger blocks a point read would decode many that it does not
    // need.
    table.block_size = 8 << 10;
    // Each key whole and in the block's hash table: next to such values the bytes don't count.
    table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
    table.block_restart_interval = 1;
    // A block has some sixteen keys: with this, four in five are alone in their place of the table.
    table.data_block_hash_table_util_ratio = 0.25;
  } else {
    table.block_size = 16 << 10;
  }
  rocksdb::ColumnFamilyOptions result;
  result.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  const bool bulky =
      family == Family::kDocs || family == Family::kLog || family == Family::kRevision;
  result.write_buffer_size = bulky ? options.write_buffer_bytes : options.write_buffer_bytes / 4;
  result.max_write_buffer_number = bulky ? 4 : 2;
  result.compression = rocksdb::kLZ4Compression;
  result.level_compaction_dynamic_level_bytes = true;
  return result;
}

rocksdb::DBOptions DatabaseOptions(const StoreOptions& options) {
  rocksdb::DBOptions result;
  result.create_if_missing = options.create_if_missing;
  result.create_missing_column_families = true;
  result.max_total_wal_size = options.max_wal_bytes;
  result.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  result.track_and_verify_wals_in_manifest = true;
  result.avoid_flush_during_recovery = true;
  result.skip_stats_update_on_db_open = true;
  result.max_background_jobs = 2;
  result.bytes_per_sync = 1 << 20;
  result.stats_dump_period_sec = 0;
  return result;
}

// A batch names column families by number (column_family.h).
Status CheckNumbers(const std::vector<rocksdb::ColumnFamilyHandle*>& handles) {
  for (size_t i = 0; i < kFamilyCount; ++i) {
    const auto family = static_cast<Family>(i);
    if (handles[i]->GetID() == ColumnFamilyNumber(family)) continue;
    return Error(Code::kCorruption, "storage.families",
                 "the column family '{}' has the number {}, expected {}", FamilyName(family),
                 handles[i]->GetID(), ColumnFamilyNumber(family));
  }
  return OkStatus();
}

rocksdb::PinnableSlice* AsPinnable(std::byte* storage) {
  return std::launder(reinterpret_cast<rocksdb::PinnableSlice*>(storage));
}

}  // namespace

std::string EngineVersion() {
  return fmt::format("{}.{}.{}", ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH);
}

class Store::Impl {
 public:
  ~Impl() {
    if (env != nullptr) env->Open();
    for (rocksdb::ColumnFamilyHandle* handle : handles) db->DestroyColumnFamilyHandle(handle);
    if (db != nullptr) db->Close();
  }
  rocksdb::ColumnFamilyHandle* Handle(Family family) const {
    return handles[static_cast<size_t>(family)];
  }
  Status Convert(const rocksdb::Status& status) const { return FromRocks(status, directory); }
  // Not inlined, so that ThreadSanitizer sees Store::Write above RocksDB (tests/tsan.supp).
  [[gnu::noinline]] Status Write(rocksdb::WriteBatch* batch, const rocksdb::WriteOptions& options) {
    return Convert(db->Write(options, batch));
  }

  std::string directory;
  std::unique_ptr<FlushGate> env;
  std::shared_ptr<rocksdb::Cache> cache;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;  // by Family
  std::unique_ptr<rocksdb::DB> db;
};

Snapshot::Snapshot(rocksdb::DB* db) : db_(db), snapshot_(db->GetSnapshot()) {}
Snapshot::~Snapshot() { db_->ReleaseSnapshot(snapshot_); }

PinnedValue::PinnedValue() {
  static_assert(sizeof(rocksdb::PinnableSlice) <= sizeof(storage_));
  static_assert(alignof(rocksdb::PinnableSlice) <= 16);
  new (storage_) rocksdb::PinnableSlice();
}
PinnedValue::PinnedValue(PinnedValue&& other) noexcept {
  new (storage_) rocksdb::PinnableSlice(std::move(*AsPinnable(other.storage_)));
}
PinnedValue& PinnedValue::operator=(PinnedValue&& other) noexcept {
  *AsPinnable(storage_) = std::move(*AsPinnable(other.storage_));
  return *this;
}
PinnedValue::~PinnedValue() { AsPinnable(storage_)->~PinnableSlice(); }
std::string_view PinnedValue::view() const {
  return ToView(*AsPinnable(const_cast<std::byte*>(storage_)));
}
void PinnedValue::Reset() { AsPinnable(storage_)->Reset(); }

class Iterator::Impl {
 public:
  std::string lower;
  std::string upper;
  rocksdb::Slice lower_slice;  // RocksDB keeps pointers to these
  rocksdb::Slice upper_slice;
  const std::string* directory = nullptr;  // the store's, which outlives this
  std::unique_ptr<rocksdb::Iterator> iterator;
};

Iterator::Iterator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Iterator::~Iterator() = default;
void Iterator::Seek(std::string_view key) { impl_->iterator->Seek(ToSlice(key)); }
void Iterator::SeekForPrev(std::string_view key) { impl_->iterator->SeekForPrev(ToSlice(key)); }
void Iterator::SeekToFirst() { impl_->iterator->SeekToFirst(); }
void Iterator::SeekToLast() { impl_->iterator->SeekToLast(); }
void Iterator::Next() { impl_->iterator->Next(); }
void Iterator::Prev() { impl_->iterator->Prev(); }
bool Iterator::Valid() const { return impl_->iterator->Valid(); }
std::string_view Iterator::key() const { return ToView(impl_->iterator->key()); }
std::string_view Iterator::value() const { return ToView(impl_->iterator->value()); }
Status Iterator::status() const { return FromRocks(impl_->iterator->status(), *impl_->directory); }

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::~Store() = default;

Result<std::unique_ptr<Store>> Store::Open(const std::string& directory, StoreOptions options) {
  auto impl = std::make_unique<Impl>();
  impl->directory = directory;
  rocksdb::LRUCacheOptions cache;
  cache.capacity = options.cache_bytes;
  cache.high_pri_pool_ratio = 0;  // all blocks are alike: indexes and filters are not in the cache
  impl->cache = rocksdb::NewLRUCache(cache);
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (size_t i = 0; i < kFamilyCount; ++i) {
    const auto family = static_cast<Family>(i);
    descriptors.emplace_back(std::string(FamilyName(family)),
                             FamilyOptions(family, options, impl->cache));
  }
  descriptors.emplace_back(rocksdb::kDefaultColumnFamilyName, rocksdb::ColumnFamilyOptions());
  const auto guard = std::make_shared<WalGuard>(directory);
  impl->env = std::make_unique<FlushGate>(rocksdb::NewCompositeEnv(guard));
  rocksdb::DBOptions database_options = DatabaseOptions(options);
  database_options.env = impl->env.get();
  const auto log = std::make_shared<LogForwarder>();
  database_options.info_log = log;
  database_options.listeners.push_back(impl->env->NewListener());
  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const rocksdb::Status opened =
      rocksdb::DB::Open(database_options, directory, descriptors, &handles, &db);
  RETURN_IF_ERROR(guard->failure());
  if (!opened.ok()) return Unexpected(FromRocks(opened, directory));
  impl->db.reset(db);
  impl->handles = std::move(handles);
  RETURN_IF_ERROR(CheckNumbers(impl->handles));
  log->Begin();
  return std::unique_ptr<Store>(new Store(std::move(impl)));
}

Result<bool> Store::Get(Family family, std::string_view key, PinnedValue* value,
                        const Snapshot* snapshot) const {
  rocksdb::ReadOptions options;
  if (snapshot != nullptr) options.snapshot = snapshot->snapshot_;
  value->Reset();
  const rocksdb::Status status =
      impl_->db->Get(options, impl_->Handle(family), ToSlice(key), AsPinnable(value->storage_));
  if (status.ok()) return true;
  if (status.IsNotFound()) return false;
  return Unexpected(impl_->Convert(status));
}

Result<bool> Store::Get(Family family, std::string_view key, std::string* value,
                        const Snapshot* snapshot) const {
  PinnedValue pinned;
  ASSIGN_OR_RETURN(const bool found, Get(family, key, &pinned, snapshot));
  if (found) value->assign(pinned.view());
  return found;
}

Status Store::GetMany(Family family, std::span<const std::string_view> keys,
                      std::span<PinnedValue* const> values, std::vector<bool>* found,
                      const Snapshot* snapshot) const {
  constexpr size_t kAtOnce = 32;  // the size of RocksDB's own batches
  CHECK(values.size() == keys.size());
  found->assign(keys.size(), false);
  rocksdb::ReadOptions options;
  if (snapshot != nullptr) options.snapshot = snapshot->snapshot_;
  for (size_t begin = 0; begin < keys.size(); begin += kAtOnce) {
    const size_t count = std::min(kAtOnce, keys.size() - begin);
    std::array<rocksdb::Slice, kAtOnce> slices;
    std::array<rocksdb::PinnableSlice, kAtOnce> read;
    std::array<rocksdb::Status, kAtOnce> statuses;
    for (size_t i = 0; i < count; ++i) slices[i] = ToSlice(keys[begin + i]);
    impl_->db->MultiGet(options, impl_->Handle(family), count, slices.data(), read.data(),
                        statuses.data());
    for (size_t i = 0; i < count; ++i) {
      (*found)[begin + i] = statuses[i].ok();
      if (statuses[i].ok()) {
        *AsPinnable(values[begin + i]->storage_) = std::move(read[i]);
      } else if (!statuses[i].IsNotFound()) {
        return impl_->Convert(statuses[i]);
      }
    }
  }
  return OkStatus();
}

Status Store::Write(Batch* batch, Sync sync) {
  rocksdb::WriteOptions options;
  options.sync = sync == Sync::kYes;
  return impl_->Write(batch->batch_.get(), options);
}

Status Store::SyncLog() { return impl_->Convert(impl_->db->SyncWAL()); }

Status Store::Flush() {
  return impl_->Convert(impl_->db->Flush(rocksdb::FlushOptions(), impl_->handles));
}

Status Store::Resume() { return impl_->Convert(impl_->env->Resume(*impl_->db)); }

std::unique_ptr<Snapshot> Store::NewSnapshot() const {
  return std::unique_ptr<Snapshot>(new Snapshot(impl_->db.get()));
}

std::unique_ptr<Iterator> Store::NewIterator(Family family, IterateOptions options) const {
  auto impl = std::make_unique<Iterator::Impl>();
  impl->lower = std::move(options.lower);
  impl->upper = std::move(options.upper);
  impl->lower_slice = ToSlice(impl->lower);
  impl->upper_slice = ToSlice(impl->upper);
  impl->directory = &impl_->directory;
  rocksdb::ReadOptions read;
  if (options.snapshot != nullptr) read.snapshot = options.snapshot->snapshot_;
  if (!impl->lower.empty()) read.iterate_lower_bound = &impl->lower_slice;
  if (!impl->upper.empty()) read.iterate_upper_bound = &impl->upper_slice;
  read.fill_cache = options.fill_cache;
  read.readahead_size = options.readahead_bytes;
  impl->iterator.reset(impl_->db->NewIterator(read, impl_->Handle(family)));
  return std::unique_ptr<Iterator>(new Iterator(std::move(impl)));
}

Status Store::Checkpoint(const std::string& directory) const {
  rocksdb::Checkpoint* raw = nullptr;
  RETURN_IF_ERROR(impl_->Convert(rocksdb::Checkpoint::Create(impl_->db.get(), &raw)));
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(raw);
  RETURN_IF_ERROR(FromRocks(checkpoint->CreateCheckpoint(directory), directory));
  return WalGuard::NoteCopy(directory);
}

Status Store::Verify() const { return impl_->Convert(impl_->db->VerifyChecksum()); }

Status Store::CompactRange(Family family, std::string_view from, std::string_view to) {
  rocksdb::CompactRangeOptions options;
  options.exclusive_manual_compaction = false;
  const rocksdb::Slice begin = ToSlice(from);
  const rocksdb::Slice end = ToSlice(to);
  return impl_->Convert(impl_->db->CompactRange(options, impl_->Handle(family), &begin, &end));
}

uint64_t Store::EstimateFileBytes(Family family, std::string_view from, std::string_view to) const {
  const rocksdb::Range range(ToSlice(from), ToSlice(to));
  uint64_t bytes = 0;
  // On an error the range counts as empty.
  (void)impl_->db->GetApproximateSizes(rocksdb::SizeApproximationOptions(), impl_->Handle(family),
                                       &range, 1, &bytes);
  return bytes;
}

uint64_t Store::EstimateBytes(Family family, std::string_view from, std::string_view to) const {
  const rocksdb::Range range(ToSlice(from), ToSlice(to));
  uint64_t rows = 0;
  uint64_t bytes = 0;
  impl_->db->GetApproximateMemTableStats(impl_->Handle(family), range, &rows, &bytes);
  return bytes + EstimateFileBytes(family, from, to);
}

uint64_t Store::EstimateFileRows(Family family, std::string_view from, std::string_view to) const {
  // Files have only a total number of rows; the range is assumed to be like the rest.
  const rocksdb::Range range(ToSlice(from), ToSlice(to));
  rocksdb::TablePropertiesCollection tables;
  const rocksdb::Status read =
      impl_->db->GetPropertiesOfTablesInRange(impl_->Handle(family), &range, 1, &tables);
  double rows = 0;
  double bytes = 0;
  for (const auto& [name, table] : tables) {
    rows += static_cast<double>(table->num_entries);
    bytes += static_cast<double>(table->data_size);
  }
  if (!read.ok() || bytes == 0) return 0;
  return static_cast<uint64_t>(rows / bytes *
                               static_cast<double>(EstimateFileBytes(family, from, to)));
}

uint64_t Store::MemoryBytes(Family family) const {
  uint64_t bytes = 0;
  impl_->db->GetIntProperty(impl_->Handle(family), "rocksdb.cur-size-all-mem-tables", &bytes);
  return bytes;
}

uint64_t Store::cache_capacity() const { return impl_->cache->GetCapacity(); }

StoreStats Store::Stats() const {
  const auto sum = [&](const char* property) {
    uint64_t value = 0;
    impl_->db->GetAggregatedIntProperty(property, &value);
    return value;
  };
  StoreStats stats;
  stats.sst_bytes = sum("rocksdb.total-sst-files-size");
  stats.memtable_bytes = sum("rocksdb.cur-size-all-mem-tables");
  stats.cache_bytes = impl_->cache->GetUsage();
  stats.pending_compaction_bytes = sum("rocksdb.estimate-pending-compaction-bytes");
  impl_->db->GetIntProperty("rocksdb.num-running-flushes", &stats.running_flushes);
  impl_->db->GetIntProperty("rocksdb.num-running-compactions", &stats.running_compactions);
  return stats;
}

}  // namespace sluice::storage
