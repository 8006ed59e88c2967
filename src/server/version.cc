#include "server/version.h"

#include "storage/store.h"

// Both come from CMakeLists.txt.
#if !defined(SLUICE_VERSION) || !defined(SLUICE_BUILD_TYPE)
#error "SLUICE_VERSION and SLUICE_BUILD_TYPE must be defined"
#endif

namespace sluice::server {

std::string_view Version() { return SLUICE_VERSION; }

json::Value VersionDetails() {
  return json::Value::Object({{"version", Version()},
                              {"build", SLUICE_BUILD_TYPE},
                              {"compiler", "g++ " __VERSION__},
                              {"rocksdb", storage::EngineVersion()}});
}

}  // namespace sluice::server
