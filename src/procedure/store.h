// Procedures and their versions: a table in memory, and a meta row for each procedure
// (docs/formats/procedures.md). The table follows the rows, whoever writes them (db/row_watch.h). A
// version of a changed row is compiled when it is needed.
//
// Concurrency: any thread may read. The caller makes sure that there is one change at a time.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/locked.h"
#include "base/status.h"
#include "db/database.h"
#include "db/row_watch.h"
#include "json/value.h"
#include "lua/program.h"

namespace sluice::procedure {

using json::Value;

inline constexpr std::string_view kProcedureRows = "procedures/";
inline constexpr size_t kMaxNameLength = 31;
inline constexpr size_t kMaxVersions = 64;  // of one procedure

class Store {
 public:
  explicit Store(db::Database& database);

  // Also compiles all of them. Once.
  Status Load();

  // A version is a string that the client chose, or a number. The changes wait until they are
  // durable; readers see a change from then on.
  //
  // Without a version, Create gives the next number. If the version exists, Create replaces its
  // text. The first version becomes the default. Errors: procedure.invalid_name,
  // procedure.too_many, lua.*.
  Result<Value> Create(const std::string& name, const Value& version, std::string_view source);
  // Without a version, drops all of them. Errors: procedure.not_found, procedure.default_version.
  Status Drop(const std::string& name, const Value& version);
  Status PutDefault(const std::string& name, const Value& version);

  // Whether that Drop would leave no version.
  bool DropsAll(const std::string& name, const Value& version) const;

  // The version that runs when a call names none. Error procedure.not_found.
  Result<Value> DefaultVersion(const std::string& name) const;
  // Without a version, the default one.
  Result<std::shared_ptr<const lua::Program>> Find(const std::string& name,
                                                   const Value& version = {}) const;
  // As comdb2_procedures lists them.
  std::vector<Value> List() const;

 private:
  using ProgramPtr = std::shared_ptr<const lua::Program>;
  struct Version {
    Value version;
    std::string source;
    std::shared_ptr<Locked<ProgramPtr>> program;  // null until it is compiled
  };
  struct Procedure {
    std::vector<Version> versions;
    Value default_version;
    int64_t next_number = 1;
  };

  static Result<Procedure> Decode(const std::string& name, const std::string& row);
  static void KeepPrograms(const Procedure& before, Procedure* procedure);
  static Result<ProgramPtr> Compiled(const std::string& name, const Version& version);
  Status Refresh(const std::string& name, const std::optional<std::string>& row);
  static Value Encode(const Procedure& procedure);
  Status Save(const std::string& name, const Procedure* procedure);
  // Error procedure.not_found.
  Result<std::shared_ptr<const Procedure>> ProcedureOf(const std::string& name) const;
  static const Version* FindVersion(const Procedure& procedure, const Value& version);

  db::Database& database_;
  Locked<std::map<std::string, std::shared_ptr<const Procedure>>> procedures_;  // by name
  db::RowWatch watch_;
};

}  // namespace sluice::procedure
