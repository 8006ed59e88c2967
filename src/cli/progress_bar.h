// A bar that is drawn over itself on a terminal, and nowhere else.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "cli/output.h"

namespace sluice::cli {

class ProgressBar {
 public:
  explicit ProgressBar(Output* output);
  ~ProgressBar() { Clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  bool shown() const { return shown_; }
  // `of` may be an estimate; 0: it is not known. At most a few times a second.
  void Show(uint64_t done, uint64_t of, std::string_view what);
  void Clear();

 private:
  Output* const output_;
  const bool shown_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_;
};

// "####......  40%  4000 of 10000 documents"; without `of` only the number.
std::string ProgressText(uint64_t done, uint64_t of, std::string_view what);

}  // namespace sluice::cli
