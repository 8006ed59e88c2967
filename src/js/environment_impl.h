#pragma once

#include <v8.h>

#include "js/environment.h"

namespace sluice::js {

// Names under which the snapshot keeps what a runtime takes out first.
inline constexpr char kLibraryName[] = "__library";
inline constexpr char kSealName[] = "__seal";

class Environment::Impl {
 public:
  ~Impl() { delete[] snapshot.data; }
  v8::StartupData snapshot{nullptr, 0};
  // The same scripts as extensions, which can't be in a snapshot, for runtimes that are debugged: a
  // debugger does not step into an extension.
  const char* extensions[2] = {nullptr, nullptr};
};

}  // namespace sluice::js
