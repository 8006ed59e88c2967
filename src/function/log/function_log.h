// The logs of a server's functions, in files below a directory.
//
// Operation: log lines wait in memory, and one thread writes those of all functions a moment later,
// so that workers never wait for a disk. When a write fails (the disk is full, the directory is
// read-only), the newest kKeptUnwritten bytes of each function stay in memory for the next try, and
// lost lines are counted. A reader also sees the lines that wait.
// Concurrency: any thread.
#pragma once

#include <atomic>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/locked.h"
#include "base/mutex.h"
#include "base/signal.h"
#include "base/thread.h"
#include "function/log/files.h"
#include "function/log/record.h"

namespace sluice::function {

struct LogSettings {
  LogLevel level = LogLevel::kInfo;  // log_level: less severe lines are dropped
  LogFileLimits files;
};

class FunctionLogs;

// The log of one function. Add nothing after the end of the FunctionLogs.
class FunctionLog : public std::enable_shared_from_this<FunctionLog> {
 public:
  static constexpr size_t kMaxWaiting = 8ull << 20;     // bytes
  static constexpr size_t kKeptUnwritten = 1ull << 20;  // bytes

  void Configure(const LogSettings& settings);
  void Add(LogLevel level, std::string_view text);
  void Add(std::vector<LogRecord> records);
  // Printed records, the newest first; with a new line each they have at most `max_bytes`.
  std::vector<std::string> Read(size_t max_bytes);
  // Deletes the files. Nothing is written after that.
  void Remove();

  uint64_t lines_lost() const { return lost_; }
  uint64_t write_failures() const { return failures_; }

 private:
  friend class FunctionLogs;
  FunctionLog(FunctionLogs& all, const std::filesystem::path& directory,
              const std::string& location);
  struct Waiting {
    std::deque<LogRecord> records;
    size_t bytes = 0;
  };
  Status Write();
  Status WriteWaiting() REQUIRES(files_mutex_);
  // Drops the oldest records and counts them as lost.
  void Shorten(Waiting& waiting, size_t max_bytes);

  FunctionLogs& all_;
  const bool in_memory_;
  std::atomic<LogLevel> level_{LogLevel::kInfo};
  std::atomic<uint64_t> lost_{0};
  std::atomic<uint64_t> failures_{0};

  Mutex files_mutex_;  // held across reads and writes of files
  LogFiles files_ GUARDED_BY(files_mutex_);
  bool removed_ GUARDED_BY(files_mutex_) = false;

  Locked<Waiting> waiting_;
};

class FunctionLogs {
 public:
  // Without a directory nothing is written: functions keep the lines that fit into memory. The
  // signal, if there is one, is woken after each round of writes.
  FunctionLogs(std::filesystem::path directory, const Clock& clock, Signal* progress = nullptr);
  ~FunctionLogs();  // writes the lines that wait
  FunctionLogs(const FunctionLogs&) = delete;
  FunctionLogs& operator=(const FunctionLogs&) = delete;

  std::shared_ptr<FunctionLog> Of(const std::string& location);
  // Removes the files of functions that no longer exist.
  void KeepOnly(const std::vector<std::string>& locations);
  const Clock& clock() const { return clock_; }

 private:
  friend class FunctionLog;
  // The log has lines to write.
  void Changed(std::shared_ptr<FunctionLog> log);
  void Loop();
  bool WriteAll(const std::vector<std::shared_ptr<FunctionLog>>& logs);

  const std::filesystem::path directory_;
  const Clock& clock_;
  bool complained_ = false;  // the thread's: the server's log says that writes fail

  Signal* const progress_;
  Locked<std::vector<std::shared_ptr<FunctionLog>>> changed_;
  Signal wake_;  // of the thread; closed when it has to end
  Thread thread_;
};

}  // namespace sluice::function
