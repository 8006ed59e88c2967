#include "procedure/store.h"

#include <algorithm>
#include <utility>

#include "db/catalog_rows.h"
#include "json/print.h"
#include "procedure/name.h"

namespace sluice::procedure {
namespace {

std::string RowKey(const std::string& name) { return std::string(kProcedureRows) + name; }

Status CheckName(const std::string& name) {
  if (IsValidName(name, kMaxNameLength)) return OkStatus();
  return Error(Code::kInvalidArgument, "procedure.invalid_name",
               "a procedure's name has 1 to {} letters, digits and _; got '{}'", kMaxNameLength,
               name);
}

Status NotFound(const std::string& name, const Value& version) {
  if (version.is_missing()) {
    return Error(Code::kNotFound, "procedure.not_found", "there is no procedure '{}'", name);
  }
  return Error(Code::kNotFound, "procedure.not_found", "procedure '{}' has no version {}", name,
               json::ToText(version));
}

}  // namespace

Store::Store(db::Database& database)
    : database_(database),
      watch_(database, std::string(kProcedureRows),
             [this](const auto& name, const auto& row) { return Refresh(name, row); }) {}

Status Store::Load() {
  RETURN_IF_ERROR(watch_.Load());
  const auto procedures = procedures_.Copy();
  for (const auto& [name, procedure] : procedures) {
    for (const Version& version : procedure->versions) {
      ASSIGN_OR_RETURN([[maybe_unused]] const ProgramPtr program, Compiled(name, version));
    }
  }
  return OkStatus();
}

// Runs on the committer's thread: compiles nothing.
Status Store::Refresh(const std::string& name, const std::optional<std::string>& row) {
  if (!row) {
    procedures_.Lock()->erase(name);
    return OkStatus();
  }
  ASSIGN_OR_RETURN(Procedure procedure, Decode(name, *row));
  if (const auto before = ProcedureOf(name)) KeepPrograms(**before, &procedure);
  auto changed = std::make_shared<const Procedure>(std::move(procedure));
  procedures_.Lock()->insert_or_assign(name, std::move(changed));
  return OkStatus();
}

// A version with the same text stays the same program, so that triggers go on with it.
void Store::KeepPrograms(const Procedure& before, Procedure* procedure) {
  for (Version& version : procedure->versions) {
    const Version* const known = FindVersion(before, version.version);
    if (known != nullptr && known->source == version.source) version.program = known->program;
  }
}

// Of two threads that compile it at the same time, both get the program of the first.
Result<Store::ProgramPtr> Store::Compiled(const std::string& name, const Version& version) {
  if (ProgramPtr known = version.program->Copy()) return known;
  ASSIGN_OR_RETURN(ProgramPtr made, lua::Program::Compile(name, version.source));
  const auto program = version.program->Lock();
  if (*program == nullptr) *program = std::move(made);
  return *program;
}

Result<Store::Procedure> Store::Decode(const std::string& name, const std::string& stored) {
  ASSIGN_OR_RETURN(const Value row, db::DecodeMetaJson(RowKey(name), stored));
  const auto corrupt = [&] {
    return Error(Code::kCorruption, "procedure.corrupt", "the row of procedure '{}' is damaged",
                 name);
  };
  Procedure procedure;
  procedure.default_version = row["default"];
  if (!row["next"].is_int()) return Unexpected(corrupt());
  procedure.next_number = row["next"].AsInt();
  for (const Value& item : row["versions"].items()) {
    if (!item["source"].is_string()) return Unexpected(corrupt());
    procedure.versions.push_back({.version = item["version"],
                                  .source = std::string(item["source"].AsString()),
                                  .program = std::make_shared<Locked<ProgramPtr>>()});
  }
  if (FindVersion(procedure, procedure.default_version) == nullptr) return Unexpected(corrupt());
  return procedure;
}

Value Store::Encode(const Procedure& procedure) {
  Value versions = Value::EmptyArray();
  for (const Version& version : procedure.versions) {
    versions.Append(
        Value::Object({{"version", version.version}, {"source", Value(version.source)}}));
  }
  return Value::Object({{"default", procedure.default_version},
                        {"next", Value(procedure.next_number)},
                        {"versions", std::move(versions)}});
}

const Store::Version* Store::FindVersion(const Procedure& procedure, const Value& version) {
  const auto found = std::ranges::find(procedure.versions, version, &Version::version);
  return found == procedure.versions.end() ? nullptr : &*found;
}

// Deletes the procedure if `procedure` is null.
Status Store::Save(const std::string& name, const Procedure* procedure) {
  db::Commit commit;
  std::optional<std::string> row;
  if (procedure != nullptr) row = db::EncodeMetaJson(Encode(*procedure));
  commit.rows.push_back(
      {db::RowFamily::kMeta, db::kDefinitionsShard, RowKey(name), std::move(row), std::nullopt});
  return database_.Apply(std::move(commit)).status;
}

Result<std::shared_ptr<const Store::Procedure>> Store::ProcedureOf(const std::string& name) const {
  const auto procedures = procedures_.Lock();
  const auto found = procedures->find(name);
  if (found == procedures->end()) return Unexpected(NotFound(name, {}));
  return found->second;
}

Result<Value> Store::Create(const std::string& name, const Value& version,
                            std::string_view source) {
  RETURN_IF_ERROR(CheckName(name));
  ASSIGN_OR_RETURN([[maybe_unused]] const auto program, lua::Program::Compile(name, source));
  const auto present = ProcedureOf(name);
  Procedure procedure = present ? **present : Procedure();
  const Value chosen = version.is_missing() ? Value(procedure.next_number++) : version;
  auto* known = const_cast<Version*>(FindVersion(procedure, chosen));
  if (known == nullptr) {
    if (procedure.versions.size() >= kMaxVersions) {
      return Fail(Code::kTooLarge, "procedure.too_many",
                  "procedure '{}' has {} versions, the most there may be: drop some", name,
                  kMaxVersions);
    }
    known = &procedure.versions.emplace_back();
  }
  *known = {.version = chosen, .source = std::string(source), .program = nullptr};
  if (procedure.versions.size() == 1) procedure.default_version = chosen;
  RETURN_IF_ERROR(Save(name, &procedure));
  return chosen;
}

Status Store::Drop(const std::string& name, const Value& version) {
  ASSIGN_OR_RETURN(const auto present, ProcedureOf(name));
  Procedure procedure = *present;
  if (version.is_missing()) return Save(name, nullptr);
  if (FindVersion(procedure, version) == nullptr) return NotFound(name, version);
  if (procedure.versions.size() == 1) return Save(name, nullptr);
  if (procedure.default_version == version) {
    return Error(Code::kConflict, "procedure.default_version",
                 "version {} is the default of procedure '{}': choose another one first with PUT "
                 "DEFAULT PROCEDURE",
                 json::ToText(version), name);
  }
  std::erase_if(procedure.versions, [&](const Version& known) { return known.version == version; });
  return Save(name, &procedure);
}

Status Store::PutDefault(const std::string& name, const Value& version) {
  ASSIGN_OR_RETURN(const auto present, ProcedureOf(name));
  Procedure procedure = *present;
  if (FindVersion(procedure, version) == nullptr) return NotFound(name, version);
  procedure.default_version = version;
  return Save(name, &procedure);
}

bool Store::DropsAll(const std::string& name, const Value& version) const {
  const auto procedure = ProcedureOf(name);
  return procedure && (version.is_missing() || (*procedure)->versions.size() == 1);
}

Result<Value> Store::DefaultVersion(const std::string& name) const {
  ASSIGN_OR_RETURN(const auto procedure, ProcedureOf(name));
  return procedure->default_version;
}

Result<std::shared_ptr<const lua::Program>> Store::Find(const std::string& name,
                                                        const Value& version) const {
  ASSIGN_OR_RETURN(const auto procedure, ProcedureOf(name));
  const Version* const found =
      FindVersion(*procedure, version.is_missing() ? procedure->default_version : version);
  if (found == nullptr) return Unexpected(NotFound(name, version));
  return Compiled(name, *found);
}

std::vector<Value> Store::List() const {
  const auto procedures = procedures_.Copy();
  std::vector<Value> rows;
  for (const auto& [name, procedure] : procedures) {
    for (const Version& version : procedure->versions) {
      const bool client = version.version.is_string();
      rows.push_back(Value::Object(
          {{"name", Value(name)},
           {"version", client ? version.version : Value(json::ToText(version.version))},
           {"client_versioned", Value(client ? "Y" : "N")},
           {"default", Value(procedure->default_version == version.version ? "Y" : "N")},
           {"src", Value(version.source)}}));
    }
  }
  return rows;
}

}  // namespace sluice::procedure
