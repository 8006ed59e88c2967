// Slows down guessing: after kFreeFailures wrong passwords for a user from an address, further
// attempts from there are refused for a time that doubles with each failure.
//
// Any thread. Bounded: when the table is full the entry that was touched longest ago is forgotten.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "base/locked.h"

namespace sluice::auth {

class FailureTable {
 public:
  static constexpr uint32_t kFreeFailures = 5;
  static constexpr uint64_t kFirstDelayMs = 1000;
  static constexpr uint64_t kMaxDelayMs = 60'000;
  static constexpr uint64_t kForgetAfterMs = 15 * 60'000;
  static constexpr size_t kMaxEntries = 4096;

  explicit FailureTable(const Clock& clock) : clock_(clock) {}

  // How long attempts are still refused; 0 when one may be made now.
  uint64_t BlockedForMs(std::string_view user, std::string_view address);
  void Failed(std::string_view user, std::string_view address);
  void Succeeded(std::string_view user, std::string_view address);

 private:
  struct Entry {
    std::string key;
    uint32_t failures = 0;
    uint64_t last_ms = 0;
    uint64_t blocked_until_ms = 0;
  };
  using Entries = std::list<Entry>;  // most recently touched first

  static std::string KeyOf(std::string_view user, std::string_view address);
  uint64_t NowMs() const { return clock_.MonotonicNs() / 1'000'000; }

  const Clock& clock_;
  struct Table {
    Entries entries;
    std::unordered_map<std::string_view, Entries::iterator> by_key;  // keys live in entries
  };
  Locked<Table> table_;
};

}  // namespace sluice::auth
