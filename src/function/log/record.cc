#include "function/log/record.h"

#include <ctime>

#include <fmt/format.h>

namespace sluice::function {
namespace {

struct Named {
  LogLevel level;
  std::string_view name;
};
constexpr Named kLevels[] = {{LogLevel::kError, "ERROR"},
                             {LogLevel::kWarning, "WARNING"},
                             {LogLevel::kInfo, "INFO"},
                             {LogLevel::kDebug, "DEBUG"},
                             {LogLevel::kTrace, "TRACE"}};

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

std::string Stamp(uint64_t wall_ms) {
  const auto seconds = static_cast<time_t>(wall_ms / 1000);
  tm local{};
  localtime_r(&seconds, &local);
  const long minutes = local.tm_gmtoff / 60;
  const long ahead = minutes < 0 ? -minutes : minutes;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}{}{:02}:{:02}", local.tm_year + 1900,
                     local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec,
                     wall_ms % 1000, minutes < 0 ? '-' : '+', ahead / 60, ahead % 60);
}

}  // namespace

std::string_view LogLevelName(LogLevel level) {
  for (const Named& one : kLevels) {
    if (one.level == level) return one.name;
  }
  return "";
}

LogLevel LogLevelOf(std::string_view name) {
  for (const Named& one : kLevels) {
    if (one.name == name) return one.level;
  }
  return LogLevel::kInfo;
}

std::string PrintRecord(const LogRecord& record) {
  std::string line = fmt::format("{} [{}] ", Stamp(record.wall_ms), LogLevelName(record.level));
  bool fresh = false;
  for (const char c : record.text) {
    if (fresh && !IsBlank(c) && c != '\n') line += "    ";
    line += c;
    fresh = c == '\n';
  }
  while (line.ends_with('\n')) line.pop_back();
  return line;
}

std::string_view TextOfRecord(std::string_view printed) {
  const size_t end = printed.find("] ");
  return end == std::string_view::npos ? printed : printed.substr(end + 2);
}

std::vector<std::string_view> SplitRecords(std::string_view part) {
  std::vector<std::string_view> records;
  size_t begin = std::string_view::npos;  // of the record that is looked at
  for (size_t at = 0; at < part.size();) {
    if (!IsBlank(part[at]) && part[at] != '\n') {
      if (begin != std::string_view::npos) records.push_back(part.substr(begin, at - begin - 1));
      begin = at;
    }
    const size_t end = part.find('\n', at);
    at = end == std::string_view::npos ? part.size() : end + 1;
  }
  if (begin != std::string_view::npos) {
    records.push_back(part.substr(begin, part.size() - begin - (part.ends_with('\n') ? 1 : 0)));
  }
  return records;
}

}  // namespace sluice::function
