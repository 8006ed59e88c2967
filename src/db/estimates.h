// Estimates of the sizes of keyspaces and indexes, without reading all of them.
//
// Concurrency: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "db/index.h"
#include "db/types.h"

namespace sluice::db {

class Database;

class Estimates {
 public:
  explicit Estimates(const Database& database) : database_(database) {}

  // Keys that divide the keyspace into `parts` ranges of about equal size, for a parallel scan.
  // None when the keyspace is too small for one.
  std::vector<std::string> SplitPoints(KeyspaceId keyspace, size_t parts) const;
  // How many documents a keyspace has, and how many rows an index has in a range of encoded parts
  // (as Database::ScanIndex takes it). Small numbers are exact.
  uint64_t Rows(KeyspaceId keyspace) const;
  uint64_t Rows(const Index& index, std::string_view from, std::string_view to) const;

 private:
  const Database& database_;
};

}  // namespace sluice::db
