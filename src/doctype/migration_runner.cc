#include "doctype/migration_runner.h"

#include "doctype/document_text.h"
#include "doctype/number_keeper.h"
#include "doctype/stamps.h"
#include "doctype/steps.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::doctype {
namespace {

using json::Value;

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

// A document between two steps: as text, which scripts take and make, or as a value, which declared
// steps change. Nothing is parsed or printed that the next step does not need.
class MigrationRunner::Form {
 public:
  explicit Form(std::string_view text) : text_(text) {}

  const std::string& text() {
    if (value_) text_ = json::ToText(*std::exchange(value_, std::nullopt));
    return text_;
  }
  void set_text(std::string text) { text_ = std::move(text); }
  // To be changed.
  Result<Value*> value() {
    if (!value_) {
      ASSIGN_OR_RETURN(value_, json::Parse(text_));
    }
    return &*value_;
  }

 private:
  std::string text_;  // out of date while there is a value
  std::optional<Value> value_;
};

MigrationRunner::MigrationRunner(std::shared_ptr<const Migrations> migrations,
                                 const ScriptLimits& limits, const Clock& clock)
    : migrations_(std::move(migrations)),
      limits_(limits),
      clock_(clock),
      files_(migrations_->files().size()) {}

Result<std::vector<size_t>> MigrationRunner::PlanOf(const std::string& from,
                                                    const std::string& to) {
  const auto found = plans_.find({from, to});
  if (found != plans_.end()) return found->second;
  ASSIGN_OR_RETURN(std::vector<size_t> plan, migrations_->Plan(from, to));
  return plans_.emplace(std::pair(from, to), std::move(plan)).first->second;
}

Result<Migrated> MigrationRunner::Run(std::string_view key, std::string_view document,
                                      const MigrateOptions& options) {
  const Type& type = migrations_->type();
  Migrated migrated;
  migrated.document = document;
  migrated.from = SchemaVersion(type, document);
  const bool says_none = migrated.from.empty();
  if (says_none) {
    migrated.from =
        VersionOr(type, document,
                  options.unversioned.empty() ? migrations_->unversioned() : options.unversioned);
  }
  const std::string target = options.to.empty() ? type.schema : std::string(options.to);
  if (migrated.from.empty()) return migrated;
  if (says_none && (migrated.from != target || !options.to.empty())) {
    migrated.document = WithVersion(type, document, migrated.from);
    migrated.changed = true;
  }
  if (migrated.from == target) return migrated;
  Status failed;
  const Result<std::vector<size_t>> plan = PlanOf(migrated.from, target);
  if (plan) {
    failed = RunSteps({key, options.stored}, *plan, &migrated);
  } else {
    failed = plan.error().Prefixed(fmt::format("document '{}'", key));
  }
  if (!failed.ok()) return Unexpected(failed.With("document", std::string(key)));
  return migrated;
}

Status MigrationRunner::RunSteps(const Target& target, const std::vector<size_t>& plan,
                                 Migrated* migrated) {
  Form form(migrated->document);
  for (const size_t number : plan) {
    const Migrations::Step& step = migrations_->steps()[number];
    Status error = RunStep(target, step, &form);
    if (error.ok()) continue;
    error = error.Prefixed(fmt::format("document '{}', step '{}'", target.key, step.Name()));
    if (error.place().line == 0) error = error.At(step.place);
    return error.With("step", step.Name());
  }
  migrated->document = form.text();
  migrated->changed = true;
  return OkStatus();
}

Status MigrationRunner::RunStep(const Target& target, const Migrations::Step& step, Form* form) {
  if (step.steps == nullptr) return RunScript(target, step, form);
  ASSIGN_OR_RETURN(Value* const value, form->value());
  for (size_t i = 0; i < step.steps->size(); ++i) {
    const MigrationStep& part = (*step.steps)[i];
    const Status applied = ApplyStep(part, value);
    if (applied.ok()) continue;
    return applied.Prefixed(fmt::format("number {}", i + 1)).At(part.place);
  }
  SetVersion(migrations_->type(), step.to, value);
  return OkStatus();
}

Result<ScriptSteps*> MigrationRunner::FileOf(const Migrations::Step& step) {
  std::unique_ptr<ScriptSteps>& file = files_[step.file];
  if (file != nullptr && !file->spent()) return file.get();
  script::Outcome failed;
  file = ScriptSteps::Start(migrations_->files()[step.file], limits_, clock_, &failed);
  if (file == nullptr) return Unexpected(OfScript(failed));
  return file.get();
}

Status MigrationRunner::RunScript(const Target& target, const Migrations::Step& step, Form* form) {
  ASSIGN_OR_RETURN(ScriptSteps* const file, FileOf(step));
  const std::string& before = form->text();
  script::Outcome outcome = file->Run(step.function, before,
                                      {.id = target.key,
                                       .type = migrations_->type().name,
                                       .from = step.from,
                                       .to = step.to,
                                       .stored = target.stored});
  if (!outcome.ok()) {
    const Place at{step.place.file, static_cast<uint32_t>(std::max(outcome.place.line, 0)),
                   static_cast<uint32_t>(std::max(outcome.place.column, 0))};
    return at.line == 0 ? OfScript(outcome) : OfScript(outcome).At(at);
  }
  std::string& made = outcome.value;
  if (made.empty()) {
    return Error(Code::kInvalidArgument, "migration.returned_nothing",
                 "the step returned nothing; expected the new document");
  }
  if (made.front() != '{') {
    ASSIGN_OR_RETURN(const Value value, json::Parse(made));
    return Error(Code::kInvalidArgument, "migration.bad_result",
                 "the step returned {}; expected an object", json::TypeName(value.type()));
  }
  if (NumberKeeper::Needed(before)) {
    ASSIGN_OR_RETURN(const Value old, json::Parse(before));
    ASSIGN_OR_RETURN(const Value value, json::Parse(made));
    made = json::ToText(NumberKeeper(old).Restore(value));
  } else {
    const Status valid = json::Validate(made);  // it may nest too deeply
    if (!valid.ok()) {
      return Error(Code::kInvalidArgument, "migration.bad_result",
                   "the step returned something that is not a document: {}", valid.message());
    }
  }
  ASSIGN_OR_RETURN(std::string kept, CheckMade(step, before, std::move(made)));
  form->set_text(std::move(kept));
  return OkStatus();
}

// A step sets the new version and leaves the type as it is. Other stamps are the server's: a step
// that makes a new document need not know of them.
Result<std::string> MigrationRunner::CheckMade(const Migrations::Step& step,
                                               std::string_view before, std::string made) const {
  const Properties& properties = migrations_->type().properties;
  const StampSpans nothing;
  const auto old_spans = StampSpans::Find(before, properties);
  const auto new_spans = StampSpans::Find(made, properties);
  const StampSpans& had = old_spans ? *old_spans : nothing;
  const StampSpans& has = new_spans ? *new_spans : nothing;
  const std::string version = has.Text(Stamp::kSchema).value_or("");
  if (version != step.to) {
    return Fail(Code::kInvalidArgument, "migration.wrong_version",
                "expected '{}' as the new value of '{}', found {}", step.to,
                properties.PathOf(Stamp::kSchema),
                version == step.from ? "the old one"
                : version.empty()    ? "none"
                                     : "'" + version + "'");
  }
  StampEdit edit(properties, has);
  bool lost = false;
  for (size_t i = 0; i < kStamps; ++i) {
    const auto stamp = static_cast<Stamp>(i);
    if (had.Raw(stamp).empty() || !has.Raw(stamp).empty()) continue;
    edit.Set(stamp, std::string(had.Raw(stamp)));
    lost = true;
  }
  if (properties.uses(Stamp::kType) && !has.Raw(Stamp::kType).empty() &&
      had.Raw(Stamp::kType) != has.Raw(Stamp::kType) &&
      had.Text(Stamp::kType) != has.Text(Stamp::kType)) {
    return Fail(Code::kInvalidArgument, "migration.bad_result", "the step changes '{}'",
                properties.PathOf(Stamp::kType));
  }
  return lost ? edit.Apply() : std::move(made);
}

}  // namespace sluice::doctype
