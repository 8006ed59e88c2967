// The one ordered key-value store under everything: RocksDB behind batches, snapshots, iterators
// and checkpoints. No other module includes RocksDB.
//
// Operation: keys live in families (family.h). A Batch (batch.h) is applied as a whole or not at
// all and survives a crash once Write returned with Sync::kYes. Concurrency: Store is safe from any
// thread. An Iterator and a PinnedValue belong to one thread. A Snapshot may be read through from
// any thread. All of them must end before the Store. Limitations: one process has a directory open
// at a time (storage.in_use otherwise).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "storage/batch.h"
#include "storage/family.h"

namespace rocksdb {
class DB;
class Snapshot;
}  // namespace rocksdb

namespace sluice::storage {

// "7.8.3": of the RocksDB that this binary was built with.
std::string EngineVersion();

enum class Sync : uint8_t { kNo, kYes };

struct StoreOptions {
  uint64_t cache_bytes = 256ull << 20;        // shared by all families
  uint64_t write_buffer_bytes = 64ull << 20;  // per memtable
  uint64_t max_wal_bytes = 256ull << 20;      // bounds what a start after a crash replays
  bool create_if_missing = true;
};

// The store as it was at one moment.
class Snapshot {
 public:
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  friend class Store;
  explicit Snapshot(rocksdb::DB* db);

  rocksdb::DB* const db_;
  const rocksdb::Snapshot* const snapshot_;
};

// A value read without copying it out of the block cache. Reusable. A move may change where view()
// points.
class PinnedValue {
 public:
  PinnedValue();
  ~PinnedValue();
  PinnedValue(PinnedValue&& other) noexcept;
  PinnedValue& operator=(PinnedValue&& other) noexcept;

  std::string_view view() const;
  void Reset();

 private:
  friend class Store;
  // Holds a rocksdb::PinnableSlice in place: a read must not cost an allocation.
  alignas(16) std::byte storage_[128];
};

class Iterator {
 public:
  ~Iterator();
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;

  void Seek(std::string_view key);
  void SeekForPrev(std::string_view key);
  void SeekToFirst();
  void SeekToLast();
  void Next();
  void Prev();
  bool Valid() const;
  std::string_view key() const;
  std::string_view value() const;
  // Not OK when the iteration ended because of an error (a damaged file, say) and not its bounds.
  Status status() const;

 private:
  friend class Store;
  class Impl;
  explicit Iterator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

struct IterateOptions {
  const Snapshot* snapshot = nullptr;
  std::string lower;  // inclusive; empty for none
  std::string upper;  // exclusive; empty for none
  bool fill_cache = true;
  uint64_t readahead_bytes = 0;
};

struct StoreStats {
  uint64_t sst_bytes = 0;
  uint64_t memtable_bytes = 0;
  uint64_t cache_bytes = 0;
  uint64_t pending_compaction_bytes = 0;
  uint64_t running_flushes = 0;
  uint64_t running_compactions = 0;
};

class Store {
 public:
  static Result<std::unique_ptr<Store>> Open(const std::string& directory, StoreOptions options);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // False when there is no such key.
  Result<bool> Get(Family family, std::string_view key, PinnedValue* value,
                   const Snapshot* snapshot = nullptr) const;
  // Copies. False when there is no such key.
  Result<bool> Get(Family family, std::string_view key, std::string* value,
                   const Snapshot* snapshot = nullptr) const;

  // Reads several keys at once, which costs less than one by one. found[i] says whether values[i]
  // was set.
  Status GetMany(Family family, std::span<const std::string_view> keys,
                 std::span<PinnedValue* const> values, std::vector<bool>* found,
                 const Snapshot* snapshot = nullptr) const;

  Status Write(Batch* batch, Sync sync);
  // Makes everything written so far with Sync::kNo durable.
  Status SyncLog();
  // Writes the memtables to files, so that the next start has less to replay.
  Status Flush();
  // After a failed write (disk full): tries to become writable again.
  Status Resume();

  std::unique_ptr<Snapshot> NewSnapshot() const;
  std::unique_ptr<Iterator> NewIterator(Family family, IterateOptions options) const;

  // A consistent copy in a new directory, while writes go on. Files are hard-linked if possible.
  Status Checkpoint(const std::string& directory) const;
  // Reads every block of every file and compares checksums.
  Status Verify() const;
  // Reclaims the space of a deleted range (a dropped keyspace). Blocks; run it in the background.
  Status CompactRange(Family family, std::string_view from, std::string_view to);

  // Estimates the size of [from, to) without reading it. Deleted and overwritten rows count until a
  // compaction removes them. The estimate is good for files, and poor for memory (EstimateBytes
  // minus EstimateFileBytes).
  uint64_t EstimateBytes(Family family, std::string_view from, std::string_view to) const;
  uint64_t EstimateFileBytes(Family family, std::string_view from, std::string_view to) const;
  uint64_t EstimateFileRows(Family family, std::string_view from, std::string_view to) const;
  uint64_t MemoryBytes(Family family) const;  // of the whole family, not yet in files
  uint64_t cache_capacity() const;            // in bytes
  StoreStats Stats() const;

 private:
  class Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::storage
