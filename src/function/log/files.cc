#include "function/log/files.h"

#include <cerrno>
#include <cstring>
#include <optional>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice::function {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxPartBytes = 200;  // of a name in a path; file systems have 255
constexpr std::string_view kEnding = ".log";

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

Status WriteFailed(const std::string& path) {
  return Error(Code::kIo, "file.unwritable", "can't write {}: {}", path, std::strerror(errno));
}

// The last bytes of a file; none when it can't be read.
std::optional<std::string> TailOf(const std::string& path, size_t max_bytes) {
  std::string text;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return std::nullopt;
  struct stat about {};
  if (fstat(file, &about) == 0) {
    const auto size = static_cast<size_t>(about.st_size);
    text.resize(std::min(size, max_bytes));
    size_t have = 0;
    while (have < text.size()) {
      const ssize_t got = pread(file, text.data() + have, text.size() - have,
                                static_cast<off_t>(size - text.size() + have));
      if (got <= 0) break;
      have += static_cast<size_t>(got);
    }
    text.resize(have);
  }
  close(file);
  return text;
}

}  // namespace

LogFiles::LogFiles(const fs::path& directory, const std::string& location)
    : path_((directory / SafePath(location)).string()) {}

// All but letters, digits, `_` and `-` as %XX, in directories where it is too long for one name.
std::string LogFiles::SafePath(const std::string& location) {
  std::string safe;
  for (const char c : location) {
    if (IsPlain(c)) {
      safe += c;
    } else {
      safe += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  for (size_t at = kMaxPartBytes; at < safe.size(); at += kMaxPartBytes + 1) safe.insert(at, "/");
  return safe;
}

void LogFiles::RemoveOthers(const fs::path& directory, const std::vector<std::string>& locations) {
  std::set<std::string> known;
  for (const std::string& location : locations) known.insert(SafePath(location));
  std::vector<fs::path> others;
  std::error_code error;
  auto entry = fs::recursive_directory_iterator(directory, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (entry->is_directory(error)) continue;
    const std::string path = entry->path().lexically_relative(directory).string();
    const size_t end = path.find(kEnding);
    if (end != std::string::npos && !known.contains(path.substr(0, end))) {
      others.push_back(entry->path());
    }
  }
  for (const fs::path& path : others) fs::remove(path, error);
}

std::string LogFiles::PathOf(uint32_t age) const {
  return age == 0 ? fmt::format("{}{}", path_, kEnding)
                  : fmt::format("{}{}.{}", path_, kEnding, age);
}

Status LogFiles::Open() {
  const std::string path = PathOf(0);
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640);
  struct stat about {};
  if (file_ < 0 || fstat(file_, &about) != 0) return WriteFailed(path);
  bytes_ = static_cast<uint64_t>(about.st_size);
  // After a crash there may be a part of a line.
  char last = '\n';
  if (bytes_ > 0 && pread(file_, &last, 1, about.st_size - 1) == 1 && last != '\n') {
    return AppendOne("\n");
  }
  return OkStatus();
}

void LogFiles::Close() {
  if (file_ >= 0) close(file_);
  file_ = -1;
}

Status LogFiles::AppendOne(const std::string& record) {
  size_t have = 0;
  while (have < record.size()) {
    const ssize_t got = write(file_, record.data() + have, record.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      Status failed = WriteFailed(PathOf(0));
      if (ftruncate(file_, static_cast<off_t>(bytes_)) != 0) bytes_ += have;
      return failed;
    }
    have += static_cast<size_t>(got);
  }
  bytes_ += record.size();
  return OkStatus();
}

Status LogFiles::Append(std::span<const std::string> records, size_t* written) {
  *written = 0;
  Status status = Open();
  // Several records are one write, as long as the file has room.
  std::string together;
  size_t waiting = 0;
  const auto write_out = [&] {
    if (waiting > 0) status = AppendOne(together);
    if (status.ok()) *written += waiting;
    together.clear();
    waiting = 0;
  };
  for (size_t i = 0; status.ok() && i < records.size(); ++i) {
    const uint64_t size = bytes_ + together.size();
    if (limits_.rotates && size > 0 && size + records[i].size() > limits_.max_bytes) {
      write_out();
      if (!status.ok()) break;
      Close();
      Rotate();
      status = Open();
    }
    together += records[i];
    ++waiting;
  }
  if (status.ok()) write_out();
  Close();
  return status;
}

// Renames every file to the next number and removes those that are too old. If the current file
// can't be renamed, it is written further.
void LogFiles::Rotate() {
  std::error_code ignored;
  uint32_t oldest = 0;
  while (fs::exists(PathOf(oldest + 1), ignored)) ++oldest;
  for (; oldest + 1 >= limits_.max_files; --oldest) {
    fs::remove(PathOf(oldest), ignored);
    if (oldest == 0) return;
  }
  for (uint32_t age = oldest + 1; age > 0; --age) fs::rename(PathOf(age - 1), PathOf(age), ignored);
}

std::string LogFiles::Tail(size_t max_bytes) const {
  std::string all;
  for (uint32_t age = 0; all.size() < max_bytes; ++age) {
    const std::optional<std::string> part = TailOf(PathOf(age), max_bytes - all.size());
    if (!part) break;
    all.insert(0, *part);
  }
  return all;
}

void LogFiles::Remove() {
  std::error_code ignored;
  for (uint32_t age = 0; fs::remove(PathOf(age), ignored); ++age) {
  }
}

}  // namespace sluice::function
