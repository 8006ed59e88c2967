// A record of a function's log, as it is written and read:
//
//   2026-11-16T08:22:48.123+00:00 [INFO] "large order" "o1"
//
// In a text of several lines, all lines but the first begin with blanks. So a line that does not is
// the beginning of a record, whatever a handler logs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::function {

enum class LogLevel : uint8_t { kError, kWarning, kInfo, kDebug, kTrace };  // the most severe first

// The name in the setting log_level.
std::string_view LogLevelName(LogLevel level);
LogLevel LogLevelOf(std::string_view name);  // kInfo for an unknown name

struct LogRecord {
  uint64_t wall_ms = 0;
  LogLevel level = LogLevel::kInfo;
  std::string text;
};

// Without a new line at the end. The time is in the machine's zone.
std::string PrintRecord(const LogRecord& record);
// The text of a printed record.
std::string_view TextOfRecord(std::string_view printed);
// The whole records in a part of a log, oldest first. Text before the first beginning of a record
// is left out.
std::vector<std::string_view> SplitRecords(std::string_view part);

}  // namespace sluice::function
