// Operations of an administrator, and the database's statistics.
//
// Concurrency: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "db/traffic.h"
#include "db/types.h"
#include "storage/store.h"

namespace sluice::db {

class DatabaseImpl;
using storage::StoreStats;

enum class Durability : uint8_t {
  kSync,      // acknowledged when on disk
  kInterval,  // acknowledged when written; on disk within sync_interval_ms
  kNone,      // acknowledged when written; the system decides when it goes to disk
};

struct ShardStats {
  Sequence sequence = 0;
  Sequence trimmed = 0;  // log rows up to here are gone
  uint64_t commits = 0;
  uint64_t groups = 0;
  uint64_t rejected = 0;
  uint64_t queued = 0;
  uint64_t writes = 0;
  uint64_t sync_ns = 0;  // total time spent making groups durable
};

struct DatabaseStats {
  std::vector<ShardStats> shards;
  StoreStats store;
  uint64_t expired = 0;
  bool read_only = false;  // the last write failed (disk full, damaged file)
  std::string failure;
};

class Operations {
 public:
  explicit Operations(DatabaseImpl& impl) : impl_(&impl) {}

  // Makes a consistent copy of everything in a new directory, while writes go on.
  Status Backup(const std::string& directory) const;
  Status Verify() const;
  DatabaseStats Stats() const;
  Durability durability() const;
  // Do now the work that the background thread does from time to time.
  Result<uint64_t> ExpireNow();
  uint64_t StampAccessesNow();
  Status TrimNow();
  // The first time, from `from_ms` on, at which a document expires; UINT64_MAX if none does.
  Result<uint64_t> NextExpiryMs(uint64_t from_ms) const;
  // Observations of how clients use documents, since the start. Statements are entered here.
  Traffic& traffic() const;
  KeyspaceTraffic TrafficOf(KeyspaceId keyspace) const;

 private:
  DatabaseImpl* const impl_;
};

}  // namespace sluice::db
