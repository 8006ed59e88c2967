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
  std::string from;      // the version that it had, or is taken for; empty if it can have none
  bool changed = false;  // false: the document is the given one, byte for byte
};

struct MigrateOptions {
  std::string_view to = {};  // a version; empty: the current one
  // The version of a document that names none; empty for the version of stored ones.
  std::string_view unversioned = {};
  // The document that a write replaces, as readers see it, for steps to look at; empty: none.
  std::string_view stored = {};
};

class MigrationRunner {
 public:
  // The clock outlives it.
  MigrationRunner(std::shared_ptr<const Migrations> migrations, const ScriptLimits& limits,
                  const Clock& clock);

  // Migrates a document to another version. A document of that version stays byte for byte the
  // same. A document that names no version gets one first, if steps must run or a version is
  // requested.
  //
  // Errors name document and step, and have the place in the file: migration.threw,
  // migration.timeout, migration.memory, migration.returned_nothing, migration.bad_result,
  // migration.wrong_version, migration.mismatch; and those of Migrations::Plan.
  Result<Migrated> Run(std::string_view key, std::string_view document,
                       const MigrateOptions& options = {});

 private:
  class Form;
  Result<std::vector<size_t>> PlanOf(const std::string& from, const std::string& to);
  struct Target {
    std::string_view key;
    std::string_view stored;
  };
  Status RunSteps(const Target& target, const std::vector<size_t>& plan, Migrated* migrated);
  Status RunStep(const Target& target, const Migrations::Step& step, Form* form);
  Status RunScript(const Target& target, const Migrations::Step& step, Form* form);
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
