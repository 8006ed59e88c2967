// Runs migrations over documents. One per thread: it keeps the JavaScript runtimes of the type's
// files. The document that is given is never changed; a step that fails leaves nothing behind.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "doctype/migrations.h"
#include "doctype/script_steps.h"
#include "json/value.h"

namespace sluice::doctype {

struct Migrated {
  std::string document;
  std::string from;  // the version that it had; empty if it has none
  size_t steps = 0;  // that were run
};

class MigrationRunner {
 public:
  // The clock outlives it.
  MigrationRunner(std::shared_ptr<const Migrations> migrations, const ScriptLimits& limits,
                  const Clock& clock);

  // The document at another version, the current one if `to` is empty. A document that has no
  // version, or has that one, stays byte for byte as it is.
  //
  // Errors name document and step, and have the place in the file: migration.threw,
  // migration.timeout, migration.memory, migration.returned_nothing, migration.bad_result,
  // migration.wrong_version, migration.mismatch; and those of Migrations::Plan.
  Result<Migrated> Run(std::string_view key, std::string_view document, std::string_view to = {});

 private:
  class Form;
  Result<std::vector<size_t>> PlanOf(const std::string& from, const std::string& to);
  Status RunStep(std::string_view key, const Migrations::Step& step, Form* form);
  Status RunScript(std::string_view key, const Migrations::Step& step, Form* form);
  Result<std::string> CheckMade(const Migrations::Step& step, std::string_view before,
                                std::string made) const;
  Result<ScriptSteps*> FileOf(const Migrations::Step& step);

  const std::shared_ptr<const Migrations> migrations_;
  const ScriptLimits limits_;
  const Clock& clock_;
  std::vector<std::unique_ptr<ScriptSteps>> files_;
  std::map<std::pair<std::string, std::string>, std::vector<size_t>> plans_;  // by from and to
};

}  // namespace sluice::doctype
