// Times of a schedule in the five fields of cron: minute, hour, day of the month, month, day of the
// week. In UTC.
//
//   */15 8-18 * * mon-fri      0 3 1 * *      30 4 1,15 * 5
//
// As cron has it, a day counts when one of the two day fields names it, if both are restricted.
// Immutable.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.h"

namespace sluice::flow {

class Cron {
 public:
  // Error flow.bad_cron, which names the field.
  static Result<Cron> Parse(std::string_view text);

  // The first scheduled time after this one, in ms since 1970; nullopt if the schedule has no time
  // in the next years.
  std::optional<uint64_t> After(uint64_t time_ms) const;

 private:
  bool IsDay(int64_t days) const;

  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_;
  std::bitset<13> months_;
  std::bitset<8> weekdays_;  // 0 is Sunday
  bool any_day_ = false;
  bool any_weekday_ = false;
};

}  // namespace sluice::flow
