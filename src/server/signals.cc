#include "server/signals.h"

#include <csignal>

#include <pthread.h>
#include <unistd.h>

#include "base/thread.h"

namespace sluice::server {
namespace {

// The exit code that a shell reports for a process that SIGINT ended.
constexpr int kInterruptedExitCode = 130;

sigset_t StopSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

}  // namespace

void HoldStopSignals() {
  const sigset_t set = StopSignals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

void WaitForStopSignal() {
  const sigset_t set = StopSignals();
  int signal = 0;
  sigwait(&set, &signal);
}

void ExitOnNextStopSignal() {
  Thread({"second signal"}, [] {
    WaitForStopSignal();
    _exit(kInterruptedExitCode);
  }).detach();
}

}  // namespace sluice::server
