#include "js/engine.h"

#include <memory>
#include <mutex>

#include <libplatform/libplatform.h>
#include <v8.h>

// Another Node.js on the machine may bring headers of another V8, which compile and link, and
// corrupt memory.
static_assert(V8_MAJOR_VERSION == 10 && V8_MINOR_VERSION == 2, "headers of another V8");

namespace sluice::js {
namespace {

// One thread of V8's own is enough for collecting garbage and optimising beside the scripts.
constexpr int kPlatformThreads = 1;
constexpr char kFlags[] =
    "--no-expose-wasm "
    "--disallow-code-generation-from-strings "
    "--no-harmony-sharedarraybuffer";

}  // namespace

void StartEngine() {
  static std::once_flag started;
  std::call_once(started, [] {
    v8::V8::SetFlagsFromString(kFlags);
    static v8::Platform* const platform =
        v8::platform::NewDefaultPlatform(kPlatformThreads).release();
    v8::V8::InitializePlatform(platform);
    v8::V8::Initialize();
  });
}

void AddEngineFlags(const std::string& flags) { v8::V8::SetFlagsFromString(flags.c_str()); }

std::string EngineVersion() { return v8::V8::GetVersion(); }

}  // namespace sluice::js
