// One file of migrations in a JavaScript runtime of its own. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "js/program.h"
#include "js/runtime.h"
#include "script/run.h"

namespace sluice::doctype {

struct ScriptLimits {
  uint64_t timeout_ms = 1000;  // for one step of one document
  uint64_t heap_bytes = 64ull << 20;
};

class ScriptSteps {
 public:
  // The file's text as a program.
  static std::shared_ptr<const js::Program> ProgramOf(const std::string& file,
                                                      const std::string& code);
  // Null, and why in `failed`, if the file can't be compiled.
  static std::unique_ptr<ScriptSteps> Start(std::shared_ptr<const js::Program> program,
                                            const ScriptLimits& limits, const Clock& clock,
                                            script::Outcome* failed);

  // Lists the exports of the file: JSON text of an array of pairs, a name and whether it is a
  // function.
  script::Outcome List();
  // The argument `meta` of a step.
  struct Meta {
    std::string_view id;
    std::string_view type;
    std::string_view from;
    std::string_view to;
    std::string_view stored;  // JSON of the document that a write replaces; empty: none
  };
  // The outcome's value is the new document's text; empty if the step returned nothing.
  script::Outcome Run(std::string_view function, std::string_view document, const Meta& meta);
  // It used too much memory; make another one.
  bool spent() const { return runtime_->spent(); }

 private:
  ScriptSteps(const ScriptLimits& limits, const Clock& clock) : limits_(limits), clock_(clock) {}
  uint64_t DeadlineNs() const;

  const ScriptLimits limits_;
  const Clock& clock_;
  std::unique_ptr<js::Runtime> runtime_;
};

}  // namespace sluice::doctype
