// The files of one function's log: NAME.log, which is written now, and the earlier files
// NAME.log.1, NAME.log.2, ..., the newest first.
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

// The settings of a function for its log files.
struct LogFileLimits {
  uint32_t max_bytes = 40 << 20;  // app_log_max_size: of one file
  uint32_t max_files = 10;        // app_log_max_files: all files, the current one included
  bool rotates = true;  // enable_applog_rotation; without it there is one file of any size
};

class LogFiles {
 public:
  LogFiles(const std::filesystem::path& directory, const std::string& location);

  // The path of a function's log below the directory, without the endings of files. Different
  // functions have different paths, and no path leads out of the directory.
  static std::string SafePath(const std::string& location);
  // Removes the files below `directory` that belong to no function of `locations`.
  static void RemoveOthers(const std::filesystem::path& directory,
                           const std::vector<std::string>& locations);

  void SetLimits(const LogFileLimits& limits) { limits_ = limits; }
  // Appends records, each of whole lines, and closes the file. `written` gets the number of records
  // that are in the file. A record that could not be written as a whole is taken out again.
  Status Append(std::span<const std::string> records, size_t* written);
  // The newest bytes of all files, oldest first; they may begin within a record. A file that can't
  // be read ends the search.
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
