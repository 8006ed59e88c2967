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

}  // namespace

WalGuard::WalGuard(std::string directory)
    : FileSystemWrapper(rocksdb::FileSystem::Default()), directory_(std::move(directory)) {}

// One that is not there RocksDB finds out by itself.
Status WalGuard::CheckCurrentManifest() const {
  std::ifstream current(fmt::format("{}/CURRENT", directory_));
  std::string name;
  std::getline(current, name);
  const std::string path = fmt::format("{}/{}", directory_, name);
  std::error_code error;
  return name.empty() || !fs::exists(path, error) ? OkStatus() : CheckManifest(path);
}

Status WalGuard::CheckAndNote() {
  RETURN_IF_ERROR(CheckCurrentManifest());
  const std::string path = fmt::format("{}/{}", directory_, kLedger);
  ASSIGN_OR_RETURN(Ledger ledger, ReadLedger(path));
  std::set<uint64_t> present;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_, error)) {
    const std::optional<uint64_t> number = WalNumber(entry.path());
    if (number && *number > ledger.over) present.insert(*number);
  }
  if (error) {
    return Error(Code::kIo, "storage.io", "cannot read {}: {}", directory_, error.message());
  }
  for (uint64_t number : ledger.made) {
    if (present.contains(number)) continue;
    return Error(Code::kCorruption, "storage.corrupt",
                 "{} is missing, and with it commits that were acknowledged. Restore it from a "
                 "backup",
                 WalName(directory_, number));
  }
  std::vector<std::string> files;
  for (uint64_t number : present) files.push_back(WalName(directory_, number));
  RETURN_IF_ERROR(CheckWals(files));
  ledger.made = std::move(present);
  return WriteLedger(directory_, path, ledger);
}

Status WalGuard::Append(const std::string& line) const {
  return SyncPath(fmt::format("{}/{}", directory_, kLedger), O_WRONLY | O_CREAT | O_APPEND, line);
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
  if (!made.ok() || !number || fs::path(path).parent_path() != directory_) return made;
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
  return FileSystemWrapper::DeleteFile(path, options, debug);
}

}  // namespace sluice::storage
