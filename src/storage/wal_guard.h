// Knows which write-ahead logs a store must have, and checks them when it is opened.
//
// RocksDB can't tell that its newest log is gone. So a file beside the logs, WALS, notes each one
// when it is made, before anything is written to it, and when RocksDB is about to delete it (which
// it does in order: all older ones are not needed either). Nor can it tell that a log or the
// manifest was cut short: SYNCED notes how long they are (synced_sizes.h). A store that has lost
// one of the two files is not opened.
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
