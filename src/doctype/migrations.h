// The migrations of a type: steps between versions of its schema, and the chain of them that leads
// from any version to the current one. Made when a type is loaded; immutable, any thread.
//
// A step is a function of a JavaScript file, or a list of declarative steps:
//
//   module.exports = {
//     '1.0 -> 2.0'(doc, meta) { ...; doc._schema = '2.0'; return doc; },
//     '2.0 -> 1.0'(doc, meta) { ... },     // a way back, if there is one
//   };
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "doctype/problems.h"
#include "doctype/type.h"
#include "js/program.h"

namespace sluice::doctype {

class Migrations {
 public:
  struct Step {
    std::string from;
    std::string to;
    Place place;
    std::string function;  // its name in the file; empty for declarative steps
    size_t file = 0;       // of files()
    const std::vector<MigrationStep>* steps = nullptr;

    std::string Name() const { return from + " -> " + to; }
  };

  // Null if there are errors: migration.bad_file, migration.bad_name, migration.duplicate,
  // migration.no_step, migration.cycle, migration.ambiguous. Loads the files, which takes some
  // milliseconds each.
  static std::shared_ptr<const Migrations> Compile(std::shared_ptr<const Type> type,
                                                   Problems* problems);

  const Type& type() const { return *type_; }
  const std::vector<std::shared_ptr<const js::Program>>& files() const { return files_; }
  const std::vector<Step>& steps() const { return steps_; }
  // The version of stored documents that name none: the type's `unversioned`, or else the first
  // version of the chain, to which no step leads.
  const std::string& unversioned() const { return unversioned_; }
  // The versions that documents may have, the current one included.
  std::vector<std::string> Versions() const;
  // The steps from one version to another, in order: numbers of steps(). migration.unknown_version,
  // migration.no_way_back.
  Result<std::vector<size_t>> Plan(std::string_view from, std::string_view to) const;

 private:
  explicit Migrations(std::shared_ptr<const Type> type) : type_(std::move(type)) {}
  void AddFile(const MigrationSource& source, Problems* problems);
  void AddSteps(const MigrationSource& source);
  void CheckChain(Problems* problems) const;
  void FindUnversioned(Problems* problems);

  const std::shared_ptr<const Type> type_;
  std::vector<std::shared_ptr<const js::Program>> files_;
  std::vector<Step> steps_;
  std::string unversioned_;
};

}  // namespace sluice::doctype
