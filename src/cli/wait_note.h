// Says that a command still works while the server takes its time, so that nobody takes it for one
// that hangs.
//
// A thread of its own prints notes to standard error; nobody else may print while a WaitNote lives.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

#include "base/thread.h"
#include "cli/output.h"

namespace sluice::cli {

class WaitNote {
 public:
  // `what` is done, such as "building the index". The first note comes after `first`, others after
  // each `interval`.
  WaitNote(Output* output, std::string what,
           std::chrono::milliseconds first = std::chrono::seconds(2),
           std::chrono::milliseconds interval = std::chrono::seconds(10));
  ~WaitNote();
  WaitNote(const WaitNote&) = delete;
  WaitNote& operator=(const WaitNote&) = delete;

 private:
  void Run(std::chrono::milliseconds first, std::chrono::milliseconds interval);

  Output* const output_;
  const std::string what_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;  // guarded by mutex_
  Thread thread_;
};

}  // namespace sluice::cli
