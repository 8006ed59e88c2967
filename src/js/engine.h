// V8 itself: started once in a process, by the first who needs it, and never stopped.
#pragma once

#include <string>

namespace sluice::js {

void StartEngine();
// More flags of V8, for tests. Before the engine starts.
void AddEngineFlags(const std::string& flags);
std::string EngineVersion();

}  // namespace sluice::js
