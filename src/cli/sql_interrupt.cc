#include "cli/sql_interrupt.h"

namespace sluice::cli {
namespace {

// A signal handler has nothing but globals.
std::atomic<bool> g_interrupted = false;
std::atomic<Api*> g_api = nullptr;

void OnInterrupt(int) {
  g_interrupted = true;
  if (Api* const api = g_api) api->Interrupt();
}

}  // namespace

SqlInterrupt::SqlInterrupt(Api* api) {
  g_api = api;
  struct sigaction action {};
  action.sa_handler = OnInterrupt;  // without SA_RESTART: reading a line ends, too
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &before_);
}

SqlInterrupt::~SqlInterrupt() {
  sigaction(SIGINT, &before_, nullptr);
  g_api = nullptr;
}

const std::atomic<bool>& SqlInterrupt::interrupted() { return g_interrupted; }
void SqlInterrupt::Reset() { g_interrupted = false; }

}  // namespace sluice::cli
