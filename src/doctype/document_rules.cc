#include "doctype/document_rules.h"

#include "doctype/limits.h"
#include "doctype/stamps.h"
#include "json/parse.h"

namespace sluice::doctype {
namespace {

// A version without steps to the current one, of a type without migrations.
Status CheckVersion(const Type& type, std::string_view version) {
  if (version.empty() || version == type.schema) return OkStatus();
  return Error(Code::kInvalidArgument, "migration.unknown_version",
               "type '{}' has no schema version '{}', only {}", type.name, version, type.schema);
}

Status Validate(const LoadedType& type, std::string_view document) {
  if (type.type().validate == Validation::kOff) return OkStatus();
  const Schema* const schema = type.SchemaOf(SchemaVersion(type.type(), document));
  if (schema == nullptr) return OkStatus();
  ASSIGN_OR_RETURN(const json::Value value, json::Parse(document));
  return schema->Check(value);
}

}  // namespace

Result<PreparedWrite> PrepareWrite(const LoadedType& type, const WriteInput& input,
                                   MigrationRunner* runner) {
  const Type& rules = type.type();
  PreparedWrite prepared;
  Migrated migrated;
  StampInput stamps{.document = input.document,
                    .present = input.present,
                    .last_revision = LastRevision(input.revisions),
                    .actor = input.actor,
                    .country = input.country,
                    .now_ms = input.now_ms};
  ASSIGN_OR_RETURN(StampSpans spans, StampSpans::Find(input.document, rules.properties));
  const std::string version = spans.Text(Stamp::kSchema).value_or("");
  if (rules.on_write == WriteMigration::kUpgrade && !version.empty() && version != rules.schema) {
    if (runner == nullptr) return Unexpected(CheckVersion(rules, version));
    ASSIGN_OR_RETURN(migrated, runner->Run(input.key, input.document));
    prepared.steps = migrated.steps;
    stamps.document = migrated.document;
    ASSIGN_OR_RETURN(spans, StampSpans::Find(migrated.document, rules.properties));
  }
  ASSIGN_OR_RETURN(Stamped stamped, ApplyStamps(rules, stamps, spans));
  RETURN_IF_ERROR(CheckLimits(rules, stamped.document));
  prepared.violation = Validate(type, stamped.document);
  if (rules.validate == Validation::kEnforce) RETURN_IF_ERROR(prepared.violation);
  prepared.revisions =
      PlanUpdate(rules, input.key, stamped.previous_version, input.revisions, input.now_ms);
  prepared.document = std::move(stamped.document);
  prepared.version = stamped.version;
  return prepared;
}

Result<Migrated> PrepareRead(const LoadedType& type, std::string_view key,
                             std::string_view document, std::string_view version,
                             MigrationRunner* runner) {
  const bool wanted = !version.empty() || type.type().on_read != ReadMigration::kOff;
  if (runner != nullptr && wanted) return runner->Run(key, document, version);
  RETURN_IF_ERROR(CheckVersion(type.type(), version));
  return Migrated{std::string(document), SchemaVersion(type.type(), document), 0};
}

}  // namespace sluice::doctype
