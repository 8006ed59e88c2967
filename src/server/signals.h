// SIGTERM, SIGINT and SIGHUP, which all mean "stop".
#pragma once

namespace sluice::server {

// Makes the stop signals wait to be taken by WaitForStopSignal, in this thread and those it starts:
// call it first. Also ignores SIGPIPE.
void HoldStopSignals();

// Waits for the first one.
void WaitForStopSignal();

// From now on the next one ends the process at once.
void ExitOnNextStopSignal();

}  // namespace sluice::server
