// Counts for each line of a function's code: calls of natives with their time, errors, and the last
// log line.
//
// Errors and log lines are always noted. Calls are counted only for kCountedFor after each request
// for the counts: to find the line of a call takes a microsecond, a large part of the time of a
// small function. A call belongs to the line of the function's own text that called the library.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/locked.h"

namespace sluice::function {

struct LineInsight {
  uint64_t calls = 0;
  uint64_t call_ns = 0;
  uint64_t errors = 0;
  std::string last_error;
  std::string last_log;
};
using InsightLines = std::map<uint32_t, LineInsight>;

// The counts of a function. Any thread.
class Insight {
 public:
  static constexpr std::chrono::minutes kCountedFor{10};

  void Add(const InsightLines& lines);
  InsightLines lines() const { return lines_.Copy(); }
  void Reset() { lines_.Set({}); }
  // Notes a request for the counts. Returns whether calls were counted before it.
  bool Look(uint64_t monotonic_ns);
  bool counts_calls(const Clock& clock) const {
    const uint64_t until_ns = counted_until_ns_.load(std::memory_order_relaxed);
    return until_ns != 0 && clock.MonotonicNs() < until_ns;
  }

 private:
  std::atomic<uint64_t> counted_until_ns_{0};
  Locked<InsightLines> lines_;
};

// The counts of invocations that are not committed yet, so that an invocation that runs again
// counts once. One thread.
class HeldInsight {
 public:
  HeldInsight(Insight& insight, const Clock& clock) : insight_(insight), clock_(clock) {}

  // Before each invocation.
  void Begin() { counts_calls_ = insight_.counts_calls(clock_); }
  bool counts_calls() const { return counts_calls_; }
  // Lines below 1 are not the function's own, and are ignored.
  void AddCall(int line, uint64_t ns, uint64_t calls);
  void AddError(int line, std::string_view message);
  void AddLog(int line, std::string_view text);

  void Release();
  void Drop() { lines_.clear(); }

 private:
  Insight& insight_;
  const Clock& clock_;
  bool counts_calls_ = false;
  InsightLines lines_;
};

}  // namespace sluice::function
