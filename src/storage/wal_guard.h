// Knows which write-ahead logs a store must have, and checks them when it is opened.
//
// RocksDB does not notice that its newest log is missing. So the file WALS beside the logs has a
// line for each log: one when the log is made, before anything is written to it, and one when
// RocksDB is about to delete it (it deletes logs in order, so all older ones are not needed
// either). Nor does RocksDB notice that a log or the manifest was cut short: SYNCED has their sizes
// (synced_sizes.h).
#pragma once

#include <memory>
#include <string>

#include <rocksdb/file_system.h>

#include "base/status.h"
#include "storage/synced_sizes.h"

namespace sluice::storage {

// RocksDB's file system. It maintains WALS. When RocksDB locks the store, before it reads anything,
// this class checks that no log is missing and that neither logs nor manifest are damaged
// (wal_check.h).
class WalGuard final : public rocksdb::FileSystemWrapper {
 public:
  explicit WalGuard(std::string directory);

  // Makes the checks of LockFile on a store that no process has open; writes nothing.
  static Status Check(const std::string& directory);
  // Makes WALS and SYNCED for a directory that holds a finished copy of a store.
  static Status NoteCopy(const std::string& directory);

  const char* Name() const override { return "WalGuard"; }
  // Why opening was refused, if this refused it.
  const Status& failure() const { return failure_; }

  rocksdb::IOStatus LockFile(const std::string& path, const rocksdb::IOOptions& options,
                             rocksdb::FileLock** lock, rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& path, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;

 private:
  Status CheckAndNote();
  Status Append(const std::string& line) const;

  const std::string directory_;
  Status failure_;
  SyncedSizes synced_;
};

}  // namespace sluice::storage
