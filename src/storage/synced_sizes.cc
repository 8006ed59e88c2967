// SYNCED: lines of 40 bytes, each a file's name padded with blanks to 23 characters, a blank, its
// synced size as 15 digits, and a line feed. A line of blanks is free. A line does not cross a
// sector of 512 bytes: each sector has twelve lines and 32 unused bytes.
#include "storage/synced_sizes.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

namespace sluice::storage {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLine = 40;
constexpr size_t kName = 23;
constexpr size_t kSector = 512;
constexpr size_t kLinesPerSector = kSector / kLine;
constexpr size_t kPlaces = 32 * kLinesPerSector;  // live logs and manifests are a handful
constexpr size_t kFile = 32 * kSector;

size_t Offset(size_t place) {
  return place / kLinesPerSector * kSector + place % kLinesPerSector * kLine;
}

std::string Line(std::string_view name, uint64_t bytes) {
  return name.empty() ? std::string(kLine - 1, ' ') + "\n"
                      : fmt::format("{:<{}} {:015}\n", name, kName, bytes);
}

Status FileError(const std::string& path) {
  const bool full = errno == ENOSPC;
  return Error(full ? Code::kNoSpace : Code::kIo, full ? "storage.no_space" : "storage.io",
               "cannot write {}: {}", path, std::strerror(errno));
}

}  // namespace

SyncedSizes::SyncedSizes(std::string directory) : directory_(std::move(directory)) {}

SyncedSizes::~SyncedSizes() {
  if (file_ >= 0) close(file_);
}

std::string SyncedSizes::Path(const std::string& directory) { return directory + "/SYNCED"; }

// A line that can't be read was not finished, and counts as free.
std::vector<SyncedSizes::Entry> SyncedSizes::Read(const std::string& directory) {
  std::ifstream in(Path(directory), std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::vector<Entry> entries(kPlaces);
  for (size_t place = 0; place < kPlaces && Offset(place) + kLine <= text.size(); ++place) {
    const std::string_view line = std::string_view(text).substr(Offset(place), kLine);
    const std::string_view name = line.substr(0, line.find(' '));
    uint64_t bytes = 0;
    const auto [end, error] =
        std::from_chars(line.data() + kName + 1, line.data() + kLine - 1, bytes);
    if (error != std::errc() || end != line.data() + kLine - 1 || line.back() != '\n') continue;
    entries[place] = {std::string(name), bytes};
  }
  return entries;
}

Status SyncedSizes::Check(const std::string& directory) {
  for (const Entry& entry : Read(directory)) {
    const std::string path = fmt::format("{}/{}", directory, entry.name);
    std::error_code error;
    const uint64_t size = entry.name.empty() ? 0 : fs::file_size(path, error);
    if (error || size >= entry.bytes) continue;
    return Error(
        Code::kCorruption, "storage.corrupt",
        "{} was cut short: it has {} bytes, {} were written and acknowledged. Restore it from "
        "a backup",
        path, size, entry.bytes);
  }
  return OkStatus();
}

Status SyncedSizes::NoteAll(const std::string& directory, const std::vector<std::string>& names) {
  SyncedSizes sizes(directory);
  RETURN_IF_ERROR(sizes.Open());
  for (const std::string& name : names) {
    std::error_code error;
    const uint64_t size = fs::file_size(fmt::format("{}/{}", directory, name), error);
    if (!error) sizes.Note(sizes.Add(name), size);
  }
  return fsync(sizes.file_) == 0 ? OkStatus() : FileError(Path(directory));
}

Status SyncedSizes::Open() {
  std::vector<Entry> entries = Read(directory_);
  const std::string path = Path(directory_);
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  // Its blocks are taken at once, so that a full disk can't stop a note.
  if (file_ < 0 || posix_fallocate(file_, 0, kFile) != 0) return FileError(path);
  for (size_t place = 0; place < entries.size(); ++place) {
    Entry& entry = entries[place];
    std::error_code error;
    if (!fs::exists(fmt::format("{}/{}", directory_, entry.name), error)) entry = {};
    Write(place, entry);
  }
  entries_.Set(std::move(entries));
  return OkStatus();
}

int SyncedSizes::Add(const std::string& name) {
  if (name.size() > kName) return -1;
  size_t place = 0;
  {
    const auto entries = entries_.Lock();
    const auto free = std::ranges::find_if(
        *entries, [&](const Entry& entry) { return entry.name.empty() || entry.name == name; });
    if (free == entries->end()) return -1;
    *free = {name, 0};
    place = static_cast<size_t>(free - entries->begin());
  }
  Write(place, {name, 0});
  return static_cast<int>(place);
}

void SyncedSizes::Note(int place, uint64_t bytes) {
  if (place < 0) return;
  Entry noted;
  {
    const auto entries = entries_.Lock();
    Entry& entry = (*entries)[static_cast<size_t>(place)];
    if (bytes <= entry.bytes) return;
    entry.bytes = bytes;
    noted = entry;
  }
  Write(static_cast<size_t>(place), noted);
}

void SyncedSizes::Forget(const std::string& name) {
  std::vector<size_t> places;
  {
    const auto entries = entries_.Lock();
    for (size_t place = 0; place < entries->size(); ++place) {
      if ((*entries)[place].name != name) continue;
      (*entries)[place] = {};
      places.push_back(place);
    }
  }
  for (const size_t place : places) Write(place, {});
}

// A line that can't be written leaves the one before it, and so do two threads whose lines for one
// place reach the file in the wrong order. That line has a smaller size, or names a file that is
// gone: damage may go unnoticed, but no file that is whole is taken for a damaged one.
void SyncedSizes::Write(size_t place, const Entry& entry) const {
  const std::string line = Line(entry.name, entry.bytes);
  [[maybe_unused]] const ssize_t written =
      pwrite(file_, line.data(), line.size(), static_cast<off_t>(Offset(place)));
}

}  // namespace sluice::storage
