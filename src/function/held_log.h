// Lines of a function's log that wait for the commit of the invocations they come from: what is run
// again is logged once.
//
// One thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::function {

class HeldLog {
 public:
  using Sink = std::function<void(std::string_view line)>;

  explicit HeldLog(Sink sink) : sink_(std::move(sink)) {}

  void Add(std::string_view line) {
    bytes_ += line.size();
    lines_.emplace_back(line);
  }
  // Commit before more is added. One invocation adds about a megabyte at most.
  bool full() const { return bytes_ >= kFullBytes; }

  void Release() {
    for (const std::string& line : lines_) sink_(line);
    Drop();
  }
  void Drop() {
    lines_.clear();
    bytes_ = 0;
  }

 private:
  static constexpr size_t kFullBytes = 4ull << 20;

  const Sink sink_;
  std::vector<std::string> lines_;
  size_t bytes_ = 0;
};

}  // namespace sluice::function
