#include "doctype/migration_runner.h"

#include "doctype/number_keeper.h"
#include "doctype/stamps.h"
#include "doctype/steps.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::doctype {
namespace {

using json::Value;

// The property that holds a stamp; missing if there is none.
const Value& StampOf(const Type& type, const Value& document, Stamp stamp) {
  const Properties& properties = type.properties;
  const Value& holder = properties.object.empty() ? document : document[properties.object];
  return holder[properties.name(stamp)];
}

std::string VersionText(const Value& value) {
  if (value.is_string()) return std::string(value.AsString());
  return value.is_number() ? json::ToText(value) : "";
}

void SetVersion(const Type& type, const std::string& version, Value* document) {
  const Properties& properties = type.properties;
  if (properties.object.empty()) return document->Set(properties.name(Stamp::kSchema), version);
  Value* const holder = document->MutableField(properties.object);
  if (holder != nullptr && holder->is_object()) {
    holder->Set(properties.name(Stamp::kSchema), version);
  }
}

Status OfScript(const script::Outcome& outcome) {
  switch (outcome.ended) {
    case script::Ended::kTimedOut:
      return Error(Code::kTimeout, "migration.timeout", "{}", outcome.message);
    case script::Ended::kOutOfMemory:
      return Error(Code::kTooLarge, "migration.memory", "{}", outcome.message);
    default:
      return Error(Code::kInvalidArgument, "migration.threw", "{}", outcome.message);
  }
}

}  // namespace

MigrationRunner::MigrationRunner(std::shared_ptr<const Migrations> migrations,
                                 const ScriptLimits& limits, const Clock& clock)
    : migrations_(std::move(migrations)),
      limits_(limits),
      clock_(clock),
      files_(migrations_->files().size()) {}

Result<Migrated> MigrationRunner::Run(std::string_view key, std::string_view document,
                                      std::string_view to) {
  const Type& type = migrations_->type();
  Migrated migrated;
  migrated.from = SchemaVersion(type, document);
  const std::string target = to.empty() ? type.schema : std::string(to);
  if (migrated.from.empty() || migrated.from == target) {
    migrated.document = document;
    return migrated;
  }
  ASSIGN_OR_RETURN(const std::vector<size_t> plan, migrations_->Plan(migrated.from, target));
  ASSIGN_OR_RETURN(Value value, json::Parse(document));
  for (const size_t number : plan) {
    const Migrations::Step& step = migrations_->steps()[number];
    auto made = RunStep(key, step, value);
    if (!made) {
      Status error =
          made.error().Prefixed(fmt::format("document '{}', step '{}'", key, step.Name()));
      if (error.place().line == 0) error = error.At(step.place);
      return Unexpected(error.With("document", std::string(key)).With("step", step.Name()));
    }
    value = std::move(*made);
  }
  migrated.document = json::ToText(value);
  migrated.steps = plan.size();
  return migrated;
}

Result<Value> MigrationRunner::RunStep(std::string_view key, const Migrations::Step& step,
                                       const Value& document) {
  const Type& type = migrations_->type();
  if (step.steps != nullptr) {
    Value made = document;
    for (const MigrationStep& part : *step.steps) {
      const Status applied = ApplyStep(part, &made);
      if (!applied.ok()) return Unexpected(applied.At(part.place));
    }
    SetVersion(type, step.to, &made);
    return made;
  }
  ASSIGN_OR_RETURN(Value made, RunScript(key, step, document));
  const std::string version = VersionText(StampOf(type, made, Stamp::kSchema));
  if (version != step.to) {
    return Fail(Code::kInvalidArgument, "migration.wrong_version",
                "expected '{}' as the new value of '{}', found {}", step.to,
                type.properties.PathOf(Stamp::kSchema),
                version == step.from ? "the old one"
                : version.empty()    ? "none"
                                     : "'" + version + "'");
  }
  if (type.properties.uses(Stamp::kType) &&
      StampOf(type, made, Stamp::kType) != StampOf(type, document, Stamp::kType)) {
    return Fail(Code::kInvalidArgument, "migration.bad_result", "the step changes '{}'",
                type.properties.PathOf(Stamp::kType));
  }
  return made;
}

Result<ScriptSteps*> MigrationRunner::FileOf(const Migrations::Step& step) {
  std::unique_ptr<ScriptSteps>& file = files_[step.file];
  if (file != nullptr && !file->spent()) return file.get();
  script::Outcome failed;
  file = ScriptSteps::Start(migrations_->files()[step.file], limits_, clock_, &failed);
  if (file == nullptr) return Unexpected(OfScript(failed));
  return file.get();
}

Result<Value> MigrationRunner::RunScript(std::string_view key, const Migrations::Step& step,
                                         const Value& document) {
  ASSIGN_OR_RETURN(ScriptSteps* const file, FileOf(step));
  const std::string meta = json::ToText(Value::Object(
      {{"id", key}, {"type", migrations_->type().name}, {"from", step.from}, {"to", step.to}}));
  const script::Outcome outcome = file->Run(step.function, json::ToText(document), meta);
  if (!outcome.ok()) {
    const Place at{step.place.file, static_cast<uint32_t>(std::max(outcome.place.line, 0)),
                   static_cast<uint32_t>(std::max(outcome.place.column, 0))};
    return Unexpected(at.line == 0 ? OfScript(outcome) : OfScript(outcome).At(at));
  }
  if (outcome.value.empty()) {
    return Fail(Code::kInvalidArgument, "migration.returned_nothing",
                "the step returned nothing; expected the new document");
  }
  ASSIGN_OR_RETURN(Value made, json::Parse(outcome.value));
  if (!made.is_object()) {
    return Fail(Code::kInvalidArgument, "migration.bad_result",
                "the step returned {}; expected an object", json::TypeName(made.type()));
  }
  return NumberKeeper(document).Restore(made);
}

}  // namespace sluice::doctype
