#include "storage/verify.h"

#include <memory>
#include <vector>

#include <fcntl.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <unistd.h>

#include "storage/rocks_status.h"
#include "storage/wal_guard.h"

namespace sluice::storage {
namespace {

// Whether another process has the store open. A copy has no LOCK file.
bool IsOpen(const std::string& directory) {
  const int file = open((directory + "/LOCK").c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool locked = fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  close(file);
  return locked;
}

}  // namespace

Status VerifyClosedStore(const std::string& directory) {
  if (IsOpen(directory)) {
    return Error(Code::kUnavailable, "storage.in_use",
                 "a server has {} open; stop it, or verify a backup", directory);
  }
  RETURN_IF_ERROR(WalGuard::Check(directory));
  const rocksdb::DBOptions options;
  std::vector<std::string> names;
  RETURN_IF_ERROR(
      FromRocks(rocksdb::DB::ListColumnFamilies(options, directory, &names), directory));
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : names) {
    families.emplace_back(name, rocksdb::ColumnFamilyOptions());
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* opened = nullptr;
  RETURN_IF_ERROR(FromRocks(
      rocksdb::DB::OpenForReadOnly(options, directory, families, &handles, &opened), directory));
  const std::unique_ptr<rocksdb::DB> db(opened);
  const rocksdb::Status verified = db->VerifyChecksum();
  for (rocksdb::ColumnFamilyHandle* handle : handles) db->DestroyColumnFamilyHandle(handle);
  return FromRocks(verified, directory);
}

}  // namespace sluice::storage
