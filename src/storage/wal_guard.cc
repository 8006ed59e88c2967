// WALS: a line "+NUMBER" for each log made, "-NUMBER" for each one that is not needed any more. A
// last line without its end was not finished and does not count. Rewritten when a store is opened.
#include "storage/wal_guard.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "storage/wal_check.h"

namespace sluice::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLedger = "WALS";

std::optional<uint64_t> Number(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The number of a log, none for other files.
std::optional<uint64_t> WalNumber(const fs::path& path) {
  if (path.extension() != ".log") return std::nullopt;
  return Number(path.stem().string());
}

std::string WalName(const std::string& directory, uint64_t number) {
  return fmt::format("{}/{:06}.log", directory, number);
}

Status SyncPath(const std::string& path, int flags, std::string_view more = {}) {
  const int file = open(path.c_str(), flags | O_CLOEXEC, 0644);
  bool done = file >= 0;
  if (done && !more.empty()) {
    done = write(file, more.data(), more.size()) == static_cast<ssize_t>(more.size());
  }
  done = done && fsync(file) == 0;
  const int reason = errno;
  if (file >= 0) close(file);
  if (done) return OkStatus();
  return Error(reason == ENOSPC ? Code::kNoSpace : Code::kIo,
               reason == ENOSPC ? "storage.no_space" : "storage.io", "cannot write {}: {}", path,
               std::strerror(reason));
}

rocksdb::IOStatus ToRocks(const Status& status) {
  if (status.ok()) return rocksdb::IOStatus::OK();
  if (status.code() == Code::kCorruption) return rocksdb::IOStatus::Corruption(status.message());
  if (status.code() == Code::kNoSpace) return rocksdb::IOStatus::NoSpace(status.message());
  return rocksdb::IOStatus::IOError(status.message());
}

struct Ledger {
  std::set<uint64_t> made;
  uint64_t over = 0;  // this one and all before it are not needed
};

Result<Ledger> ReadLedger(const std::string& path) {
  Ledger ledger;
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::string_view rest = text;
  for (size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    const std::optional<uint64_t> number = line.empty() ? std::nullopt : Number(line.substr(1));
    if (!number || (line[0] != '+' && line[0] != '-')) {
      return Fail(Code::kCorruption, "storage.corrupt",
                  "{} is damaged: expected lines such as +12 or -12", path);
    }
    if (line[0] == '+') ledger.made.insert(*number);
    if (line[0] == '-') ledger.over = std::max(ledger.over, *number);
  }
  ledger.made.erase(ledger.made.begin(), ledger.made.upper_bound(ledger.over));
  return ledger;
}

Status WriteLedger(const std::string& directory, const std::string& path, const Ledger& ledger) {
  std::string text;
  if (ledger.over != 0) text += fmt::format("-{}\n", ledger.over);
  for (uint64_t number : ledger.made) text += fmt::format("+{}\n", number);
  const std::string temporary = path + ".new";
  RETURN_IF_ERROR(SyncPath(temporary, O_WRONLY | O_CREAT | O_TRUNC, text));
  std::error_code error;
  fs::rename(temporary, path, error);
  if (error) return Error(Code::kIo, "storage.io", "cannot write {}: {}", path, error.message());
  return SyncPath(directory, O_RDONLY | O_DIRECTORY);
}

std::string LedgerPath(const std::string& directory) {
  return fmt::format("{}/{}", directory, kLedger);
}

bool IsManifest(const fs::path& path) { return path.filename().string().starts_with("MANIFEST-"); }

// The file that CURRENT names; empty without one.
std::string CurrentManifest(const std::string& directory) {
  std::ifstream current(fmt::format("{}/CURRENT", directory));
  std::string name;
  std::getline(current, name);
  std::error_code error;
  return fs::exists(fmt::format("{}/{}", directory, name), error) ? name : std::string();
}

// The existing logs that are newer than `over`.
Result<std::set<uint64_t>> PresentWals(const std::string& directory, uint64_t over) {
  std::set<uint64_t> present;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    const std::optional<uint64_t> number = WalNumber(entry.path());
    if (number && *number > over) present.insert(*number);
  }
  if (error) {
    return Fail(Code::kIo, "storage.io", "cannot read {}: {}", directory, error.message());
  }
  return present;
}

// Both notes are made before RocksDB makes a store (LockFile), so a store without one of them has
// lost it. What else was lost with it can't be told any more.
Status CheckNotes(const std::string& directory) {
  std::error_code error;
  if (!fs::exists(fmt::format("{}/CURRENT", directory), error)) return OkStatus();
  for (const std::string& note : {LedgerPath(directory), SyncedSizes::Path(directory)}) {
    if (fs::exists(note, error)) continue;
    return Error(
        Code::kCorruption, "storage.corrupt",
        "{} is missing: it tells whether a write-ahead log is missing or was cut short, and "
        "with it commits that were acknowledged. Restore the directory from a backup",
        note);
  }
  return OkStatus();
}

// Checks everything; returns the ledger of the logs that are there.
Result<Ledger> CheckedLedger(const std::string& directory) {
  RETURN_IF_ERROR(CheckNotes(directory));
  RETURN_IF_ERROR(SyncedSizes::Check(directory));
  // RocksDB itself reports a missing manifest.
  if (const std::string manifest = CurrentManifest(directory); !manifest.empty()) {
    RETURN_IF_ERROR(CheckManifest(fmt::format("{}/{}", directory, manifest)));
  }
  ASSIGN_OR_RETURN(Ledger ledger, ReadLedger(LedgerPath(directory)));
  ASSIGN_OR_RETURN(std::set<uint64_t> present, PresentWals(directory, ledger.over));
  for (uint64_t number : ledger.made) {
    if (present.contains(number)) continue;
    return Fail(Code::kCorruption, "storage.corrupt",
                "{} is missing, and with it commits that were acknowledged. Restore it from a "
                "backup",
                WalName(directory, number));
  }
  std::vector<std::string> files;
  for (uint64_t number : present) files.push_back(WalName(directory, number));
  RETURN_IF_ERROR(CheckWals(files));
  ledger.made = std::move(present);
  return ledger;
}

// A log or a manifest: notes its size each time it was synced.
class SizedFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  SizedFile(std::unique_ptr<rocksdb::FSWritableFile> file, SyncedSizes* sizes, int place)
      : FSWritableFileOwnerWrapper(std::move(file)), sizes_(*sizes), place_(place) {}

  rocksdb::IOStatus Sync(const rocksdb::IOOptions& options,
                         rocksdb::IODebugContext* debug) override {
    const uint64_t size = GetFileSize(options, debug);  // others may append while this syncs
    return Noted(FSWritableFileOwnerWrapper::Sync(options, debug), size);
  }
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options,
                          rocksdb::IODebugContext* debug) override {
    const uint64_t size = GetFileSize(options, debug);
    return Noted(FSWritableFileOwnerWrapper::Fsync(options, debug), size);
  }

 private:
  rocksdb::IOStatus Noted(rocksdb::IOStatus synced, uint64_t size) {
    if (synced.ok()) sizes_.Note(place_, size);
    return synced;
  }

  SyncedSizes& sizes_;
  const int place_;
};

}  // namespace

WalGuard::WalGuard(std::string directory)
    : FileSystemWrapper(rocksdb::FileSystem::Default()),
      directory_(std::move(directory)),
      synced_(directory_) {}

Status WalGuard::Check(const std::string& directory) {
  const Result<Ledger> ledger = CheckedLedger(directory);
  return ledger ? OkStatus() : ledger.error();
}

Status WalGuard::NoteCopy(const std::string& directory) {
  ASSIGN_OR_RETURN(const std::set<uint64_t> present, PresentWals(directory, 0));
  std::vector<std::string> names = {CurrentManifest(directory)};
  for (uint64_t number : present) {
    names.push_back(fs::path(WalName(directory, number)).filename().string());
  }
  RETURN_IF_ERROR(SyncedSizes::NoteAll(directory, names));
  return WriteLedger(directory, LedgerPath(directory), {.made = present});
}

Status WalGuard::CheckAndNote() {
  ASSIGN_OR_RETURN(const Ledger ledger, CheckedLedger(directory_));
  RETURN_IF_ERROR(synced_.Open());
  return WriteLedger(directory_, LedgerPath(directory_), ledger);
}

Status WalGuard::Append(const std::string& line) const {
  return SyncPath(LedgerPath(directory_), O_WRONLY | O_CREAT | O_APPEND, line);
}

rocksdb::IOStatus WalGuard::LockFile(const std::string& path, const rocksdb::IOOptions& options,
                                     rocksdb::FileLock** lock, rocksdb::IODebugContext* debug) {
  rocksdb::IOStatus locked = FileSystemWrapper::LockFile(path, options, lock, debug);
  if (!locked.ok()) return locked;
  failure_ = CheckAndNote();
  if (failure_.ok()) return locked;
  FileSystemWrapper::UnlockFile(*lock, options, debug).PermitUncheckedError();
  *lock = nullptr;
  return ToRocks(failure_);
}

rocksdb::IOStatus WalGuard::NewWritableFile(const std::string& path,
                                            const rocksdb::FileOptions& options,
                                            std::unique_ptr<rocksdb::FSWritableFile>* file,
                                            rocksdb::IODebugContext* debug) {
  rocksdb::IOStatus made = FileSystemWrapper::NewWritableFile(path, options, file, debug);
  const std::optional<uint64_t> number = WalNumber(path);
  if (!made.ok() || fs::path(path).parent_path() != directory_) return made;
  if (!number && !IsManifest(path)) return made;
  const int place = synced_.Add(fs::path(path).filename().string());
  *file = std::make_unique<SizedFile>(std::move(*file), &synced_, place);
  if (!number) return made;
  Status noted = SyncPath(directory_, O_RDONLY | O_DIRECTORY);
  if (noted.ok()) noted = Append(fmt::format("+{}\n", *number));
  return ToRocks(noted);
}

rocksdb::IOStatus WalGuard::DeleteFile(const std::string& path, const rocksdb::IOOptions& options,
                                       rocksdb::IODebugContext* debug) {
  const std::optional<uint64_t> number = WalNumber(path);
  if (number && fs::path(path).parent_path() == directory_) {
    const Status noted = Append(fmt::format("-{}\n", *number));
    if (!noted.ok()) return ToRocks(noted);
  }
  rocksdb::IOStatus deleted = FileSystemWrapper::DeleteFile(path, options, debug);
  if (deleted.ok() && (number || IsManifest(path))) {
    synced_.Forget(fs::path(path).filename().string());
  }
  return deleted;
}

}  // namespace sluice::storage
