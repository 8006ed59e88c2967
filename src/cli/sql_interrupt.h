// Ctrl-C in the shell: ends the statement that runs, not the shell.
#pragma once

#include <atomic>

#include <signal.h>

#include "cli/api.h"

namespace sluice::cli {

// While this lives, SIGINT sets interrupted() and ends the API's call. One at a time; the thread
// that makes the calls must be the one that gets the signal.
class SqlInterrupt {
 public:
  explicit SqlInterrupt(Api* api);
  ~SqlInterrupt();
  SqlInterrupt(const SqlInterrupt&) = delete;
  SqlInterrupt& operator=(const SqlInterrupt&) = delete;

  static const std::atomic<bool>& interrupted();
  static void Reset();

 private:
  struct sigaction before_;
};

}  // namespace sluice::cli
