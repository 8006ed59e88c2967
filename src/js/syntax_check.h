// What V8 finds wrong with a text before anybody runs it, for many texts in one isolate: a runtime
// for each would cost some milliseconds.
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

  // What can't be compiled.
  script::Outcome Compile(const Source& source);
  // And what can't be declared. The text must have nothing but functions at its top level.
  script::Outcome Declare(const Source& source);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::js
