// Records how many bytes of each write-ahead log and manifest have reached the disk, in the file
// SYNCED beside them.
//
// A log that was cut short looks to RocksDB as if nothing more had been written, and a manifest
// that was cut short as if the newer table files did not exist (it then deletes them). With the
// sizes, both are noticed before RocksDB reads anything.
//
// A size is noted after the file was synced and is itself not synced: it survives the end of the
// process, and after a power cut it may be too small, never too large.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/locked.h"
#include "base/status.h"

namespace sluice::storage {

class SyncedSizes {
 public:
  explicit SyncedSizes(std::string directory);
  ~SyncedSizes();
  SyncedSizes(const SyncedSizes&) = delete;
  SyncedSizes& operator=(const SyncedSizes&) = delete;

  // Where the notes of a directory lie.
  static std::string Path(const std::string& directory);
  // storage.corrupt if a file of `directory` is smaller than was noted. It does not look for files
  // that are gone.
  static Status Check(const std::string& directory);
  // Records the present sizes of files in a directory that no process writes to, and syncs the
  // records.
  static Status NoteAll(const std::string& directory, const std::vector<std::string>& names);

  // Opens the records, after Check. Drops the records of files that no longer exist.
  Status Open();
  // Reserves a place for a file's size and returns its number for Note; -1 if all places are taken.
  int Add(const std::string& name);
  void Note(int place, uint64_t bytes);
  void Forget(const std::string& name);

 private:
  struct Entry {
    std::string name;  // empty: the place is free
    uint64_t bytes = 0;
  };
  static std::vector<Entry> Read(const std::string& directory);
  void Write(size_t place, const Entry& entry) const;

  const std::string directory_;
  Locked<std::vector<Entry>> entries_;  // by place
  int file_ = -1;                       // set by Open, before other threads come
};

}  // namespace sluice::storage
