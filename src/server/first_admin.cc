#include "server/first_admin.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice::server {

std::string FirstPasswordFile(std::string_view data_directory) {
  return std::string(data_directory) + "/first-admin-password";
}

Status KeepFirstPassword(const std::string& file, std::string_view password) {
  const auto fail = [&] {
    return Error(Code::kIo, "server.first_password",
                 "can't write the password of the first admin to {}: {}", file,
                 std::strerror(errno));
  };
  constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;
  const int fd =
      open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly);
  if (fd < 0) return fail();
  const std::string line = std::string(password) + "\n";
  const bool written = fchmod(fd, kOwnerOnly) == 0 &&
                       write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
                       fsync(fd) == 0;
  const Status status = written ? OkStatus() : fail();
  close(fd);
  return status;
}

}  // namespace sluice::server
