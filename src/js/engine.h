// V8 itself. The first user in a process starts it, and it never stops.
#pragma once

#include <string>

namespace sluice::js {

void StartEngine();
// More flags of V8, for tests. Before the engine starts.
void AddEngineFlags(const std::string& flags);
std::string EngineVersion();

}  // namespace sluice::js
