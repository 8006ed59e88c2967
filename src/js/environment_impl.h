#pragma once

#include <v8.h>

#include "js/environment.h"

namespace sluice::js {

// The global names in the snapshot of the objects that a new runtime needs; it removes the names.
inline constexpr char kLibraryName[] = "__library";
inline constexpr char kSealName[] = "__seal";
inline constexpr char kPackName[] = "__pack";

class Environment::Impl {
 public:
  ~Impl() { delete[] snapshot.data; }
  v8::StartupData snapshot{nullptr, 0};
  // The same scripts as extensions, for runtimes with a debugger: a debugger does not step into an
  // extension. Extensions can't be in a snapshot.
  static constexpr int kScripts = 3;
  const char* extensions[kScripts] = {};
};

}  // namespace sluice::js
