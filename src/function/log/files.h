// The files of one function's log: NAME.log, which is written, and NAME.log.1, NAME.log.2, ... of
// what was written before, the newest first.
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace sluice::function {

// The settings of a function that are about its files.
struct LogFileLimits {
  uint32_t max_bytes = 40 << 20;  // app_log_max_size: of a file
  uint32_t max_files = 10;        // app_log_max_files: with the one that is written
  bool rotates = true;  // enable_applog_rotation; without it there is one file of any size
};

class LogFiles {
 public:
  LogFiles(const std::filesystem::path& directory, const std::string& location);

  // The path of a function's log below the directory, without what files add to it: no two
  // functions have the same one, and none leads out of it.
  static std::string SafePath(const std::string& location);
  // Removes the files below `directory` of functions that are not among those of `locations`.
  static void RemoveOthers(const std::filesystem::path& directory,
                           const std::vector<std::string>& locations);

  void SetLimits(const LogFileLimits& limits) { limits_ = limits; }
  // Adds records, whole lines each, and closes the file. `written` is how many are in it: of one
  // that could not be written as a whole there is nothing.
  Status Append(std::span<const std::string> records, size_t* written);
  // The newest bytes of all files, in order, beginning anywhere. A file that can't be read ends it.
  std::string Tail(size_t max_bytes) const;
  void Remove();

 private:
  std::string PathOf(uint32_t age) const;
  Status Open();
  void Close();
  Status AppendOne(const std::string& record);
  void Rotate();

  const std::string path_;  // of all files, without their endings
  LogFileLimits limits_;

  // The file that is written, while it is open.
  int file_ = -1;
  uint64_t bytes_ = 0;
};

}  // namespace sluice::function
