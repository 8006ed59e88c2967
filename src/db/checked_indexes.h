// Remembers which indexes are complete in a snapshot: a reader opens many scans of the same index
// and checks it once. Any thread.
#pragma once

#include <map>
#include <optional>

#include "base/locked.h"
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
    // Most snapshots have a catalog, and then the check reads nothing.
    if (snapshot_.catalog() != nullptr) return database_.CheckIndex(index, snapshot_);
    if (std::optional<Status> known = Known(index.id())) return *std::move(known);
    // Two threads may both check an index; they get the same result.
    Status checked = database_.CheckIndex(index, snapshot_);
    results_.Lock()->emplace(index.id(), checked);
    return checked;
  }

 private:
  std::optional<Status> Known(IndexId index) const {
    const auto results = results_.Lock();
    const auto found = results->find(index);
    if (found == results->end()) return std::nullopt;
    return found->second;
  }

  const Database& database_;
  const DatabaseSnapshot& snapshot_;
  Locked<std::map<IndexId, Status>> results_;
};

}  // namespace sluice::db
