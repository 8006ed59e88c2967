// Finds the errors of texts without running them, many texts in one isolate: a runtime for each
// would cost some milliseconds.
//
// One thread at a time.
#pragma once

#include <memory>

#include "js/program.h"
#include "script/run.h"

namespace sluice::js {

class SyntaxChecker {
 public:
  SyntaxChecker();
  ~SyntaxChecker();
  SyntaxChecker(const SyntaxChecker&) = delete;
  SyntaxChecker& operator=(const SyntaxChecker&) = delete;

  // Compiles a text; the outcome has the error.
  script::Outcome Compile(const Source& source);
  // Also declares its functions. The text must have only functions at its top level.
  script::Outcome Declare(const Source& source);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::js
