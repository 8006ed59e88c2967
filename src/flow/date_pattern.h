// Dates and times in text, by patterns of Java's DateTimeFormatter: yyyy-MM-dd'T'HH:mm:ss.SSS, with
// y M d H h m s S a E, X Z and VV, and text in quotes. Read once, when a flow is compiled.
// Immutable.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace sluice::flow {

class DatePattern {
 public:
  // Error flow.bad_mapping, naming the letter that is not known.
  static Result<DatePattern> Parse(std::string_view pattern);

  // A moment as it is in `zone` (empty: the machine's). Error flow.bad_argument, when there is no
  // such zone.
  Result<std::string> Format(int64_t unix_ms, const std::string& zone) const;
  // Reads a date or time, in the machine's zone unless the text has an offset; midnight if the text
  // has no time. Error flow.bad_argument.
  Result<int64_t> Read(std::string_view text) const;

 private:
  struct Part {
    char letter = 0;  // 0: literal text
    int count = 0;
    std::string text;
  };
  std::vector<Part> parts_;
};

// 2026-03-15T21:51:27.083Z
std::string IsoTime(int64_t unix_ms);
// 2026-03-15 14:51:27.083, in the machine's zone.
Result<std::string> LocalTime(int64_t unix_ms);
// 2026-03-15T14:48:21.735-07:00[America/Los_Angeles], in the machine's zone.
Result<std::string> ZonedTime(int64_t unix_ms);
// Error flow.bad_argument.
Status CheckZone(const std::string& zone);

}  // namespace sluice::flow
