// V8 itself: started once in a process, by the first who needs it, and never stopped.
#pragma once

#include <string>

namespace sluice::js {

void StartEngine();
std::string EngineVersion();

}  // namespace sluice::js
