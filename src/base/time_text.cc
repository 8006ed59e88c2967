#include "base/time_text.h"

#include <ctime>

#include <fmt/format.h>

namespace sluice {

std::string UtcText(uint64_t wall_ms) {
  const time_t seconds = static_cast<time_t>(wall_ms / 1000);
  struct tm utc;
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     wall_ms % 1000);
}

}  // namespace sluice
