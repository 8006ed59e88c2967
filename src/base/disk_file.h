// Bytes on disk that are too many for memory: written once, from the beginning to the end, and read
// by pieces. Errors file.unreadable, file.unwritable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace sluice {

class DiskFile {
 public:
  // A file without a name: it disappears with the object, and after a crash.
  static Result<std::shared_ptr<DiskFile>> MakeUnnamed(const std::string& directory);
  // Opens an existing file for reading.
  static Result<std::shared_ptr<DiskFile>> Open(const std::string& path);
  ~DiskFile();
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;

  // One thread, which is the only one then.
  Status Append(std::string_view bytes);
  // From `offset` on, less than `size` at the end only. Any thread.
  Result<std::string> Read(uint64_t offset, size_t size) const;
  uint64_t size() const { return size_; }

  // The whole file as memory (mmap): the system reads pages when they are used.
  class View {
   public:
    explicit View(std::string_view bytes) : bytes_(bytes) {}
    View(View&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
    View& operator=(View&&) = delete;
    ~View();
    std::string_view bytes() const { return bytes_; }

   private:
    std::string_view bytes_;
  };
  Result<View> Map() const;

 private:
  DiskFile(int descriptor, uint64_t size, std::string name)
      : descriptor_(descriptor), size_(size), name_(std::move(name)) {}

  const int descriptor_;
  uint64_t size_;
  const std::string name_;  // for errors
};

}  // namespace sluice
