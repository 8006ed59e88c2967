// Which indexes are whole in a snapshot, asked once for each: a reader opens many scans of the same
// index. Any thread.
#pragma once

#include <map>

#include "base/mutex.h"
#include "base/status.h"
#include "db/database.h"
#include "db/index.h"
#include "db/types.h"

namespace sluice::db {

class CheckedIndexes {
 public:
  // Both must outlive this.
  CheckedIndexes(const Database& database, const DatabaseSnapshot& snapshot)
      : database_(database), snapshot_(snapshot) {}

  Status Check(const Index& index) {
    // Most snapshots know without reading anything.
    if (snapshot_.catalog() != nullptr) return database_.CheckIndex(index, snapshot_);
    const MutexLock lock(mutex_);
    const auto known = results_.find(index.id());
    if (known != results_.end()) return known->second;
    return results_[index.id()] = database_.CheckIndex(index, snapshot_);
  }

 private:
  const Database& database_;
  const DatabaseSnapshot& snapshot_;
  Mutex mutex_;
  std::map<IndexId, Status> results_ GUARDED_BY(mutex_);
};

}  // namespace sluice::db
