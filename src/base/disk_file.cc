#include "base/disk_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

Status Unwritable(const std::string& name, int error) {
  return Error(Code::kIo, "file.unwritable", "can't write {}: {}", name, std::strerror(error));
}

Status Unreadable(const std::string& name, int error) {
  return Error(error == ENOENT ? Code::kNotFound : Code::kIo, "file.unreadable",
               "can't read {}: {}", name, std::strerror(error));
}

}  // namespace

Result<std::shared_ptr<DiskFile>> DiskFile::MakeUnnamed(const std::string& directory) {
  std::error_code made;
  std::filesystem::create_directories(directory, made);
  std::string path = directory + "/stream-XXXXXX";
  const int descriptor = ::mkostemp(path.data(), O_CLOEXEC);
  if (descriptor < 0) return Unexpected(Unwritable(directory, errno));
  ::unlink(path.c_str());
  return std::shared_ptr<DiskFile>(new DiskFile(descriptor, 0, path));
}

Result<std::shared_ptr<DiskFile>> DiskFile::Open(const std::string& path) {
  // Without waiting for who writes to it, if it is a pipe.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return Unexpected(Unreadable(path, errno));
  struct stat about {};
  const bool is_file = ::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
  if (!is_file) {
    ::close(descriptor);
    return Fail(Code::kInvalidArgument, "file.unreadable", "can't read {}: it is not a file", path);
  }
  return std::shared_ptr<DiskFile>(
      new DiskFile(descriptor, static_cast<uint64_t>(about.st_size), path));
}

DiskFile::~DiskFile() { ::close(descriptor_); }

Status DiskFile::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Unwritable(name_, errno);
    bytes.remove_prefix(static_cast<size_t>(written));
    size_ += static_cast<uint64_t>(written);
  }
  return OkStatus();
}

Result<std::string> DiskFile::Read(uint64_t offset, size_t size) const {
  std::string bytes;
  if (offset >= size_) return bytes;
  bytes.resize(static_cast<size_t>(std::min<uint64_t>(size, size_ - offset)));
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t read = ::pread(descriptor_, bytes.data() + done, bytes.size() - done,
                                 static_cast<off_t>(offset + done));
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return Unexpected(Unreadable(name_, errno));
    if (read == 0) break;  // somebody made it shorter
    done += static_cast<size_t>(read);
  }
  bytes.resize(done);
  return bytes;
}

DiskFile::View::~View() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

Result<DiskFile::View> DiskFile::Map() const {
  if (size_ == 0) return View({});
  void* const begin = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor_, 0);
  if (begin == MAP_FAILED) return Unexpected(Unreadable(name_, errno));
  ::madvise(begin, size_, MADV_SEQUENTIAL);
  return View({static_cast<const char*>(begin), size_});
}

}  // namespace sluice
