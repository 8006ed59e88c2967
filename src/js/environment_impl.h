#pragma once

#include <v8.h>

#include "js/environment.h"

namespace sluice::js {

// Names under which the snapshot keeps what a runtime takes out first.
inline constexpr char kLibraryName[] = "__library";
inline constexpr char kSealName[] = "__seal";
inline constexpr char kPackName[] = "__pack";

class Environment::Impl {
 public:
  ~Impl() { delete[] snapshot.data; }
  v8::StartupData snapshot{nullptr, 0};
  // The same scripts as extensions, which can't be in a snapshot, for runtimes that are debugged: a
  // debugger does not step into an extension.
  static constexpr int kScripts = 3;
  const char* extensions[kScripts] = {};
};

}  // namespace sluice::js
