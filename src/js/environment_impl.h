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
};

}  // namespace sluice::js
