// The environment of all programs of one kind: JavaScript's own built-ins, made immutable
// (library/harden.js), and a library. It is kept as a snapshot, from which a runtime starts in a
// few milliseconds.
//
// The library is a script that evaluates to a function. Each new runtime calls it with two
// arguments, an object with the natives and the runtime's configuration, before the program runs;
// it defines the program's globals and returns an object of entry points, functions through which
// the host calls into the program (Runtime::Call).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace sluice::js {

class Environment {
 public:
  static Result<std::shared_ptr<const Environment>> Make(std::string_view library);
  ~Environment();

 private:
  friend class Runtime;
  class Impl;
  explicit Environment(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::js
