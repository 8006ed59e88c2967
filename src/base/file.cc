#include "base/file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace sluice {

Result<std::string> ReadFile(const std::string& path, size_t max_bytes) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             &std::fclose);
  if (file == nullptr) {
    const Code code = errno == ENOENT ? Code::kNotFound : Code::kIo;
    return Fail(code, "file.unreadable", "can't read {}: {}", path, std::strerror(errno));
  }
  std::string bytes;
  char buffer[16 << 10];
  while (const size_t count = std::fread(buffer, 1, sizeof buffer, file.get())) {
    bytes.append(buffer, count);
    if (bytes.size() > max_bytes) {
      return Fail(Code::kTooLarge, "file.too_large", "{} is larger than {} bytes", path, max_bytes);
    }
  }
  if (std::ferror(file.get())) {
    return Fail(Code::kIo, "file.unreadable", "can't read {}: {}", path, std::strerror(errno));
  }
  return bytes;
}

}  // namespace sluice
