// Prints notes during a long command, so that the user sees that it still works.
//
// A thread of its own prints the notes to standard error; no other thread may print while a
// WaitNote lives.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/signal.h"
#include "base/thread.h"
#include "cli/output.h"

namespace sluice::cli {

class WaitNote {
 public:
  // `what` describes the work, such as "building the index". The first note comes after 2 s, others
  // every 10 s.
  WaitNote(Output* output, std::string what, const Clock& clock = MachineClock());
  ~WaitNote();
  WaitNote(const WaitNote&) = delete;
  WaitNote& operator=(const WaitNote&) = delete;

 private:
  void Run(Clock::Time start);

  Output* const output_;
  const std::string what_;
  Signal over_;  // closed when the command has ended
  Thread thread_;
};

}  // namespace sluice::cli
