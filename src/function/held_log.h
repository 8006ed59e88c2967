// Lines of a function's log that wait for the commit of the invocations that wrote them, so that an
// invocation that runs again is logged once.
//
// One thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "function/log/function_log.h"

namespace sluice::function {

class HeldLog {
 public:
  HeldLog(FunctionLog& log, const Clock& clock) : log_(log), clock_(clock) {}

  void Add(LogLevel level, std::string_view text) {
    bytes_ += text.size();
    records_.push_back({clock_.WallMs(), level, std::string(text)});
  }
  // Commit before more is added. One invocation adds about a megabyte at most.
  bool full() const { return bytes_ >= kFullBytes; }

  size_t size() const { return records_.size(); }
  // Keeps the first `size` lines and drops the others.
  void CutTo(size_t size) {
    for (; records_.size() > size; records_.pop_back()) bytes_ -= records_.back().text.size();
  }

  void Release() {
    if (!records_.empty()) log_.Add(std::move(records_));
    Drop();
  }
  void Drop() {
    records_.clear();
    bytes_ = 0;
  }

 private:
  static constexpr size_t kFullBytes = 4ull << 20;

  FunctionLog& log_;
  const Clock& clock_;
  std::vector<LogRecord> records_;
  size_t bytes_ = 0;
};

}  // namespace sluice::function
