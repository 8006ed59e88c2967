// FORMAT is a line of JSON: {"sluice":2,"shards":1,"id":"<uuid>"}.
#include "db/directory.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <unistd.h>

#include "json/parse.h"
#include "json/print.h"
#include "storage/verify.h"

namespace sluice::db {
namespace {

namespace fs = std::filesystem;

std::string FormatPath(const std::string& directory) { return directory + "/FORMAT"; }

Status FileError(const std::string& path, const std::string& what) {
  const Code code = errno == ENOSPC ? Code::kNoSpace : Code::kIo;
  return Status(code, errno == EACCES || errno == EROFS ? "storage.read_only" : "storage.io",
                fmt::format("{} {}: {}", what, path, std::strerror(errno)));
}

Status SyncPath(const std::string& path, int flags) {
  const int file = open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0) return FileError(path, "cannot open");
  const int synced = fsync(file);
  const Status status = synced == 0 ? OkStatus() : FileError(path, "cannot sync");
  close(file);
  return status;
}

}  // namespace

std::string StorePath(const std::string& directory) { return directory + "/store"; }

Status MakeDirectory(const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    errno = error.value();
    return FileError(directory, "cannot create");
  }
  return OkStatus();
}

Result<std::optional<DirectoryFormat>> ReadFormat(const std::string& directory) {
  std::ifstream in(FormatPath(directory), std::ios::binary);
  if (!in) {
    if (errno == ENOENT) return std::nullopt;
    return Unexpected(FileError(FormatPath(directory), "cannot read"));
  }
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const Result<json::Value> value = json::Parse(text);
  if (!value || !(*value)["sluice"].is_int() || !(*value)["shards"].is_int() ||
      !(*value)["id"].is_string()) {
    return Fail(Code::kCorruption, "storage.corrupt",
                "{} is damaged: expected a line of JSON with sluice, shards and id",
                FormatPath(directory));
  }
  DirectoryFormat format;
  const int64_t version = (*value)["sluice"].AsInt();
  const int64_t shards = (*value)["shards"].AsInt();
  if (version > kFormatVersion) {
    return Fail(
        Code::kUnsupported, "storage.unknown_format",
        "{} says format {}: a newer Sluice wrote this. This server reads format {}; install the "
        "newer version, or restore a backup of this one",
        FormatPath(directory), version, kFormatVersion);
  }
  if (version >= 1 && version < kFormatVersion) {
    return Fail(
        Code::kUnsupported, "storage.unknown_format",
        "{} says format {}: an earlier Sluice wrote this. This server reads format {} only; "
        "export the documents with the earlier version, and import them into a new directory",
        FormatPath(directory), version, kFormatVersion);
  }
  if (version != kFormatVersion || shards < 1 || shards > kMaxShards) {
    return Fail(Code::kUnsupported, "storage.unknown_format",
                "{} says format {} with {} shards; this server reads format {} with 1 to {}",
                FormatPath(directory), version, shards, kFormatVersion, kMaxShards);
  }
  format.shards = static_cast<uint16_t>(shards);
  format.id = (*value)["id"].AsString();
  return format;
}

Status WriteFormat(const std::string& directory, const DirectoryFormat& format) {
  const std::string path = FormatPath(directory);
  const std::string temporary = path + ".new";
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out << json::ToText(json::Value::Object(
               {{"sluice", format.version}, {"shards", format.shards}, {"id", format.id}}))
        << "\n";
    out.flush();
    if (!out) return FileError(temporary, "cannot write");
  }
  RETURN_IF_ERROR(SyncPath(temporary, O_RDONLY));
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return FileError(path, "cannot write");
  return SyncPath(directory, O_RDONLY | O_DIRECTORY);
}

Status VerifyDirectory(const std::string& directory) {
  ASSIGN_OR_RETURN(const std::optional<DirectoryFormat> format, ReadFormat(directory));
  if (!format) {
    return Error(Code::kNotFound, "backup.not_found",
                 "{} holds no complete backup: it has no FORMAT file", directory);
  }
  return storage::VerifyClosedStore(StorePath(directory));
}

Status RestoreBackup(const std::string& backup, const std::string& directory) {
  RETURN_IF_ERROR(VerifyDirectory(backup));
  ASSIGN_OR_RETURN(const std::optional<DirectoryFormat> format, ReadFormat(backup));
  std::error_code error;
  if (fs::exists(directory, error) && !fs::is_empty(directory, error)) {
    return Error(Code::kAlreadyExists, "backup.target_not_empty",
                 "{} is not empty; a backup is restored to a new directory", directory);
  }
  RETURN_IF_ERROR(MakeDirectory(directory));
  fs::copy(StorePath(backup), StorePath(directory), fs::copy_options::recursive, error);
  if (error) {
    errno = error.value();
    return FileError(StorePath(directory), "cannot copy the backup to");
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(StorePath(directory), error)) {
    RETURN_IF_ERROR(SyncPath(entry.path().string(), O_RDONLY));
  }
  if (error) {
    errno = error.value();
    return FileError(StorePath(directory), "cannot read");
  }
  RETURN_IF_ERROR(SyncPath(StorePath(directory), O_RDONLY | O_DIRECTORY));
  return WriteFormat(directory, *format);
}

}  // namespace sluice::db
