// A line of a function's log, as it is written and read:
//
//   2026-11-16T08:22:48.123+00:00 [INFO] "large order" "o1"
//
// Text of several lines has those after the first begin with blanks, so that a line that does not
// is the beginning of a record, whatever a handler logs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::function {

enum class LogLevel : uint8_t { kError, kWarning, kInfo, kDebug, kTrace };  // the gravest first

// As the setting log_level has it.
std::string_view LogLevelName(LogLevel level);
LogLevel LogLevelOf(std::string_view name);  // kInfo for one that there is not

struct LogRecord {
  uint64_t wall_ms = 0;
  LogLevel level = LogLevel::kInfo;
  std::string text;
};

// Without the new line at its end. The time is that of the machine's zone.
std::string PrintRecord(const LogRecord& record);
// The text of a printed record.
std::string_view TextOfRecord(std::string_view printed);
// The whole records in a part of a log, oldest first. What comes before the first beginning of one
// is left out.
std::vector<std::string_view> SplitRecords(std::string_view part);

}  // namespace sluice::function
