#include "storage/rocks_status.h"

#include <string_view>

namespace sluice::storage {
namespace {

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Status Corrupt(std::string text, const std::string& directory) {
  // RocksDB looks for a missing table under its old name last, and its message has that name.
  if (const size_t at = text.find(".ldb"); at != std::string::npos) text.replace(at, 4, ".sst");
  return Error(Code::kCorruption, "storage.corrupt",
               "a file under {} is damaged and is not served: {}. Restore it from a backup",
               directory, text);
}

Status FromIoError(const rocksdb::Status& status, const std::string& text,
                   const std::string& directory) {
  if (status.IsNoSpace() || Contains(text, "No space left")) {
    return Error(Code::kNoSpace, "storage.no_space",
                 "the disk that holds {} is full; nothing was written. Free some space and try "
                 "again ({})",
                 directory, text);
  }
  if (Contains(text, "Permission denied") || Contains(text, "Read-only file system")) {
    return Error(Code::kIo, "storage.read_only", "cannot write to {} ({})", directory, text);
  }
  if (Contains(text, "lock hold by current process") || Contains(text, "While lock file")) {
    return Error(Code::kUnavailable, "storage.in_use",
                 "{} is in use by another process; one server can have a data directory open at a "
                 "time ({})",
                 directory, text);
  }
  if (Contains(text, "/MANIFEST-") && Contains(text, "No such file"))
    return Corrupt(text, directory);
  return Error(Code::kIo, "storage.io", "{} ({})", text, directory);
}

}  // namespace

Status FromRocks(const rocksdb::Status& status, const std::string& directory) {
  if (status.ok()) return OkStatus();
  const std::string text = status.ToString();
  if (status.IsCorruption()) return Corrupt(text, directory);
  if (status.IsIOError() || status.IsNoSpace()) return FromIoError(status, text, directory);
  if (status.IsTryAgain() || status.IsBusy()) {
    return Error(Code::kUnavailable, "storage.busy", "{} ({})", text, directory);
  }
  if (status.IsInvalidArgument() && Contains(text, "does not exist")) {
    return Error(Code::kNotFound, "storage.missing", "there is no database in {} ({})", directory,
                 text);
  }
  return Error(Code::kInternal, "storage.internal", "{} ({})", text, directory);
}

}  // namespace sluice::storage
