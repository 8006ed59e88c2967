// Prints notes during a long command, so that the user sees that it still works.
//
// A thread of its own prints the notes to standard error; no other thread may print while a
// WaitNote lives.
#pragma once

#include <chrono>
#include <string>

#include "base/mutex.h"
#include "base/thread.h"
#include "cli/output.h"

namespace sluice::cli {

class WaitNote {
 public:
  // `what` describes the work, such as "building the index". The first note comes after `first`,
  // others after each `interval`.
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
  Mutex mutex_;
  CondVar ended_;
  bool over_ GUARDED_BY(mutex_) = false;
  Thread thread_;
};

}  // namespace sluice::cli
