// A write passes these steps, in this order:
//
//   FindForWrite  the type, from the key and the document; a document may have none
//   Upgrade       a document of an older version is migrated to the current one, by a runner of the
//                 type's pool; the result may depend on the replaced document
//   Validate      limits, schema and key, on the document with its stamps; a document that does not
//                 fit is refused, diverted to the quarantine keyspace, or stored with a warning
//   SettleAs      stamps and the number of the revision, from the replaced document
//
// Prepare runs all of them, usually on the writer's thread. Settle is for the committer and runs
// the last one only. A read migrates a stored document (AsRead); the results of scripts are cached.
//
// Invariant: AsRead depends on nothing but the document and the texts in ReadFormOf. Index rows are
// computed from its result and are found again by computing them a second time, so a change that
// changes the results must change the text, too, or kReadRules (db/catalog_edit_types.cc).
#include "doctype_db/keyspace_policy.h"

#include <algorithm>

#include "base/check.h"
#include "base/log.h"
#include "doctype/limits.h"
#include "doctype/stamps.h"
#include "doctype/type_json.h"
#include "json/parse.h"
#include "json/path.h"
#include "json/print.h"

namespace sluice::doctype_db {
namespace {

using db::DocumentView;
using doctype::LoadedType;
using doctype::ReadMigration;
using doctype::Stamp;
using doctype::StampSpans;
using doctype::Type;
using doctype::Validation;
using json::Value;

// The cache of migrated documents, for each type.
constexpr size_t kMigratedBytes = 16ull << 20;

doctype::TypeSet SetOf(const KeyspacePolicy::Types& types) {
  doctype::TypeSet::Types plain;
  for (const auto& loaded : types) {
    plain.push_back(std::shared_ptr<const Type>(loaded, &loaded->type()));
  }
  return doctype::TypeSet(std::move(plain));
}

bool MigratesOnRead(const Type& type) {
  return !type.migrations.empty() && type.on_read != ReadMigration::kOff;
}

bool HasScripts(const Type& type) {
  return std::ranges::any_of(
      type.migrations, [](const doctype::MigrationSource& each) { return !each.code.empty(); });
}

// The settings that decide in which form a document is read.
std::string ReadFormOf(const KeyspacePolicy::Types& types) {
  bool migrates = false;
  Value form = Value::EmptyArray();
  for (const auto& loaded : types) {
    const Type& type = loaded->type();
    const Value all = doctype::ToJson(type);
    Value part = Value::Object(
        {{"type", type.name}, {"match", all["match"]}, {"properties", all["properties"]}});
    if (MigratesOnRead(type)) {
      migrates = true;
      part.Set("schema", type.schema);
      part.Set("unversioned", loaded->migrations()->unversioned());
      part.Set("migrations", all["migrations"]);
    }
    form.Append(std::move(part));
  }
  return migrates ? json::ToText(form) : "";
}

std::string QuarantineRecord(const db::DocumentPolicy::WriteContext& context, const Type& type,
                             const Status& violation, std::string_view body) {
  Value record = Value::Object(
      {{"key", context.key},
       {"type", type.name},
       {"keyspace", type.keyspace},
       {"reason", Value::Object({{"id", violation.id()}, {"message", violation.message()}})},
       {"time", Value::Unsigned(context.now_ms)}});
  if (!context.actor.empty()) record.Set("by", context.actor);
  std::string text = json::ToText(record);
  text.pop_back();
  return text.append(R"(,"document":)").append(body).append("}");
}

// A field that the pattern of the key names, such as "user:{userId}", must have the same value in
// the document as in its key, if the document has it.
Status CheckKey(const Type& type, std::string_view key, const Value& document) {
  if (!type.key) return OkStatus();
  const auto bindings = type.key->Extract(key);
  if (!bindings) return OkStatus();
  for (const auto& [name, part] : *bindings) {
    const auto path = json::Path::Parse(name);
    if (!path) continue;
    const Value& value = path->Get(document);
    if (!value.is_string() && !value.is_int() && !value.is_bool()) continue;
    const std::string text = value.is_string() ? std::string(value.AsString()) : ToText(value);
    if (text == part) continue;
    return Error(Code::kInvalidArgument, "type.key_mismatch",
                 "'{}' is {} in the key and {} in the document", name, part, text);
  }
  return OkStatus();
}

}  // namespace

db::KeyspaceName QuarantineOf(const db::KeyspaceName& keyspace) {
  db::KeyspaceName quarantine = keyspace;
  quarantine.collection =
      keyspace.collection == db::kDefaultName ? "quarantine" : keyspace.collection + "_quarantine";
  return quarantine;
}

KeyspacePolicy::KeyspacePolicy(const db::KeyspaceName& keyspace, const Types& types,
                               const doctype::ScriptLimits& limits, const Clock& clock)
    : keyspace_(keyspace),
      quarantine_(QuarantineOf(keyspace)),
      set_(SetOf(types)),
      read_form_(ReadFormOf(types)) {
  for (const auto& loaded : types) {
    Entry& entry = entries_.emplace_back();
    entry.loaded = loaded;
    if (loaded->migrations() != nullptr) {
      entry.runners = std::make_unique<RunnerPool>(loaded->migrations(), limits, clock);
    }
    notes_access_ = notes_access_ || loaded->type().properties.uses(Stamp::kAccessed);
    if (HasScripts(loaded->type())) {
      runs_scripts_ = true;
      entry.migrated = std::make_unique<MigratedDocuments>(kMigratedBytes);
    }
    if (const auto& revisions = loaded->type().revisions) {
      keeps_revisions_ = true;
      entry.limits = {revisions->keep, revisions->max_age_ms};
    }
  }
}

const LoadedType* KeyspacePolicy::FindType(std::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.type().name == name) return entry.loaded.get();
  }
  return nullptr;
}

std::string KeyspacePolicy::TypeOf(std::string_view key, const DocumentView& document) const {
  const Entry* const entry = FindOf(key, &document);
  return entry == nullptr ? "" : entry->type().name;
}

void KeyspacePolicy::SayVersion(std::string_view key, db::Document* document) const {
  const DocumentView view = DocumentView::Of(*document);
  const Entry* const entry = FindOf(key, &view);
  if (entry == nullptr || entry->runners == nullptr || view.datatype != db::Datatype::kJson) return;
  if (!doctype::SchemaVersion(entry->type(), view.body).empty()) return;
  const std::string version =
      doctype::VersionOr(entry->type(), view.body, entry->loaded->migrations()->unversioned());
  if (!version.empty()) document->body = WithVersion(entry->type(), view.body, version);
}

Result<std::optional<std::string>> KeyspacePolicy::NewKey(std::string_view body) const {
  const Type* const type = set_.FindByProperty(body);
  if (type == nullptr || !type->key) return std::nullopt;
  ASSIGN_OR_RETURN(const Value document, json::Parse(body));
  ASSIGN_OR_RETURN(std::string key, type->key->Build(document));
  return key;
}

const KeyspacePolicy::Entry& KeyspacePolicy::EntryOf(const Type& type) const {
  for (const Entry& entry : entries_) {
    if (&entry.type() == &type) return entry;
  }
  CHECK(false);
}

const KeyspacePolicy::Entry* KeyspacePolicy::Find(std::string_view key,
                                                  std::string_view body) const {
  const doctype::TypeSet::Match match = set_.Find(key, body);
  return match.type == nullptr || match.revision ? nullptr : &EntryOf(*match.type);
}

const KeyspacePolicy::Entry* KeyspacePolicy::FindOf(std::string_view key,
                                                    const DocumentView* document) const {
  if (document != nullptr && document->datatype == db::Datatype::kJson) {
    return Find(key, document->body);
  }
  const doctype::TypeSet::Match match = set_.FindByKey(key);
  return match.type == nullptr || match.revision ? nullptr : &EntryOf(*match.type);
}

// --- writing ------------------------------------------------------------------------------------

Result<db::DocumentPolicy::Prepared> KeyspacePolicy::Prepare(const WriteContext& context,
                                                             const DocumentView& document,
                                                             const Replaced& replaced) const {
  Prepared prepared;
  const std::string_view body =
      document.datatype == db::Datatype::kJson ? document.body : std::string_view("0");
  ASSIGN_OR_RETURN(const doctype::TypeSet::Match match, set_.FindForWrite(context.key, body));
  if (match.type == nullptr) {
    prepared.settled = SettleLeft(context.key, replaced);
    return prepared;
  }
  const Entry& entry = EntryOf(*match.type);
  RETURN_IF_ERROR(Upgrade(entry, context, body, replaced, &prepared));
  const std::string_view upgraded = prepared.body ? *prepared.body : body;
  RETURN_IF_ERROR(Validate(entry, context, upgraded, &prepared));
  if (prepared.diverted) return prepared;
  ASSIGN_OR_RETURN(prepared.settled, SettleAs(entry, context, upgraded, replaced));
  return prepared;
}

// The version of a written document that names none. If the type does not migrate on read, readers
// get such documents as they are stored, and write them back unchanged.
std::string KeyspacePolicy::UnversionedWrite(const Entry& entry, const Replaced& replaced) {
  const Type& type = entry.type();
  if (!type.unversioned.empty()) return type.unversioned;
  const bool rewritten = entry.runners != nullptr && type.on_read == ReadMigration::kOff &&
                         replaced.present != nullptr &&
                         doctype::SchemaVersion(type, replaced.present->body).empty();
  return rewritten ? entry.loaded->migrations()->unversioned() : type.schema;
}

// A document of an older version is stored as one of the current version.
Status KeyspacePolicy::Upgrade(const Entry& entry, const WriteContext& context,
                               std::string_view body, const Replaced& replaced,
                               Prepared* prepared) const {
  const Type& type = entry.type();
  const std::string unversioned = UnversionedWrite(entry, replaced);
  const std::string version = doctype::VersionOr(type, body, unversioned);
  if (version.empty() || version == type.schema) return OkStatus();
  if (type.on_write == doctype::WriteMigration::kOff) {
    if (doctype::SchemaVersion(type, body).empty()) {
      prepared->body = doctype::WithVersion(type, body, version);
    }
    return OkStatus();
  }
  if (entry.runners == nullptr) {
    return Error(Code::kInvalidArgument, "migration.unknown_version",
                 "type '{}' has no schema version '{}', only {}", type.name, version, type.schema);
  }
  const std::string stored =
      HasScripts(type) && replaced.present != nullptr ? StoredAsRead(context.key, replaced) : "";
  ASSIGN_OR_RETURN(doctype::Migrated migrated,
                   entry.runners->Borrow()->Run(context.key, body,
                                                {.unversioned = unversioned, .stored = stored}));
  prepared->body = std::move(migrated.document);
  return OkStatus();
}

// Empty if the replaced document can't be read: a write does not need it.
std::string KeyspacePolicy::StoredAsRead(std::string_view key, const Replaced& replaced) const {
  if (replaced.present->datatype != db::Datatype::kJson) return "";
  if (!ReadsOtherwise(key, *replaced.present)) return std::string(replaced.present->body);
  auto body = AsRead(key, *replaced.present, {});
  if (!body) return "";
  return *body ? std::move(**body) : std::string(replaced.present->body);
}

// Checks the document in its stored form, except for stamps that depend on the document it
// replaces.
Status KeyspacePolicy::Validate(const Entry& entry, const WriteContext& context,
                                std::string_view body, Prepared* prepared) const {
  const Type& type = entry.type();
  if (type.validate == Validation::kOff && !type.limits.any()) return OkStatus();
  ASSIGN_OR_RETURN(const doctype::Stamped stamped, ApplyStamps(type, {.document = body,
                                                                      .present = std::nullopt,
                                                                      .actor = context.actor,
                                                                      .now_ms = context.now_ms}));
  RETURN_IF_ERROR(CheckLimits(type, stamped.document));
  if (type.validate == Validation::kOff) return OkStatus();
  const doctype::Schema* const schema =
      entry.loaded->SchemaOf(doctype::SchemaVersion(type, stamped.document));
  if (schema == nullptr && !type.key) return OkStatus();
  ASSIGN_OR_RETURN(const Value value, json::Parse(stamped.document));
  Status violation = schema == nullptr ? OkStatus() : schema->Check(value);
  if (violation.ok()) violation = CheckKey(type, context.key, value);
  if (violation.ok()) return OkStatus();
  violation = violation.Prefixed(fmt::format("document '{}' of type '{}'", context.key, type.name));
  if (type.validate == Validation::kEnforce) return violation;
  log::Warn("a document does not fit its schema", {{"keyspace", keyspace_.ToString()},
                                                   {"key", context.key},
                                                   {"type", type.name},
                                                   {"error", violation.ToString()}});
  if (type.validate == Validation::kQuarantine) {
    prepared->diverted = QuarantineRecord(context, type, violation, stamped.document);
  }
  prepared->violation = std::move(violation);
  return OkStatus();
}

Result<db::DocumentPolicy::Settled> KeyspacePolicy::Settle(const WriteContext& context,
                                                           std::string_view body,
                                                           const Replaced& replaced) const {
  const Entry* const entry = Find(context.key, body);
  return entry == nullptr ? SettleLeft(context.key, replaced)
                          : SettleAs(*entry, context, body, replaced);
}

// A document that no longer has its type is treated as a deleted one: it leaves a revision.
db::DocumentPolicy::Settled KeyspacePolicy::SettleLeft(std::string_view key,
                                                       const Replaced& replaced) const {
  return replaced.present == nullptr ? Settled{}
                                     : SettleDelete(key, *replaced.present, replaced.last_revision);
}

Result<db::DocumentPolicy::Settled> KeyspacePolicy::SettleAs(const Entry& entry,
                                                             const WriteContext& context,
                                                             std::string_view body,
                                                             const Replaced& replaced) {
  doctype::StampInput input{.document = body,
                            .present = std::nullopt,
                            .last_revision = replaced.last_revision,
                            .actor = context.actor,
                            .now_ms = context.now_ms};
  if (replaced.present != nullptr) input.present = replaced.present->body;
  ASSIGN_OR_RETURN(doctype::Stamped stamped, ApplyStamps(entry.type(), input));
  Settled settled{.body = std::move(stamped.document)};
  if (!entry.type().revisions) return settled;
  settled.limits = &entry.limits;
  settled.revision = stamped.previous_version;
  return settled;
}

db::DocumentPolicy::Settled KeyspacePolicy::SettleDelete(std::string_view key,
                                                         const DocumentView& present,
                                                         uint64_t last_revision) const {
  const Entry* const entry = FindOf(key, &present);
  if (entry == nullptr || !entry->type().revisions) return {};
  Settled settled{.body = {}, .limits = &entry->limits};
  if (entry->type().revisions->on_delete == doctype::Revisions::OnDelete::kPurge) {
    settled.purge = true;
    return settled;
  }
  const auto spans = StampSpans::Find(present.body, entry->type().properties);
  const uint64_t had = spans ? spans->Count(Stamp::kVersion) : 0;
  settled.revision = std::max(had, last_revision + 1);
  return settled;
}

// --- revisions ----------------------------------------------------------------------------------

std::optional<db::DocumentPolicy::RevisionName> KeyspacePolicy::RevisionOf(
    std::string_view key) const {
  if (!keeps_revisions_) return std::nullopt;
  const doctype::TypeSet::Match match = set_.FindByKey(key);
  if (!match.revision) return std::nullopt;
  return RevisionName{match.revision->key, match.revision->version};
}

const db::RevisionLimits* KeyspacePolicy::LimitsOf(std::string_view key,
                                                   const DocumentView* document) const {
  const Entry* const entry = FindOf(key, document);
  return entry == nullptr || !entry->type().revisions ? nullptr : &entry->limits;
}

std::string KeyspacePolicy::RevisionKey(std::string_view key, const DocumentView* document,
                                        uint64_t version) const {
  const Entry* const entry = FindOf(key, document);
  if (entry != nullptr && entry->type().revisions) {
    return entry->type().revisions->key.Make(key, version);
  }
  return doctype::RevisionKey::Parse(doctype::RevisionKey::kDefault)->Make(key, version);
}

// --- reading ------------------------------------------------------------------------------------

bool KeyspacePolicy::ReadsOtherwise(std::string_view key, const DocumentView& document) const {
  if (read_form_.empty() || document.datatype != db::Datatype::kJson) return false;
  const Entry* const entry = Find(key, document.body);
  if (entry == nullptr || !MigratesOnRead(entry->type())) return false;
  const std::string version =
      doctype::VersionOr(entry->type(), document.body, entry->loaded->migrations()->unversioned());
  return !version.empty() && version != entry->type().schema;
}

Result<std::optional<std::string>> KeyspacePolicy::AsRead(std::string_view key,
                                                          const DocumentView& document,
                                                          std::string_view version) const {
  const Entry* const entry = FindOf(key, &document);
  if (entry == nullptr) {
    if (version.empty()) return std::nullopt;
    return Fail(Code::kInvalidArgument, "migration.unknown_version",
                "document '{}' has no type, so there is no version '{}' of it", key, version);
  }
  const Type& type = entry->type();
  if (entry->runners == nullptr || document.datatype != db::Datatype::kJson) {
    if (version.empty() || version == doctype::VersionOr(type, document.body, type.schema)) {
      return std::nullopt;
    }
    return Fail(Code::kInvalidArgument, "migration.unknown_version",
                "type '{}' has no schema version '{}', only {}", type.name, version, type.schema);
  }
  if (version.empty() && type.on_read == ReadMigration::kOff) return std::nullopt;
  if (!version.empty() || entry->migrated == nullptr) {
    return Migrate(*entry, key, document.body, version);
  }
  if (auto kept = entry->migrated->Find(key, document)) return kept;
  ASSIGN_OR_RETURN(std::optional<std::string> made, Migrate(*entry, key, document.body, version));
  if (made) entry->migrated->Keep(key, document, *made);
  return made;
}

// Nothing if no step has to run.
Result<std::optional<std::string>> KeyspacePolicy::Migrate(const Entry& entry, std::string_view key,
                                                           std::string_view body,
                                                           std::string_view version) {
  Result<doctype::Migrated> migrated = entry.runners->Borrow()->Run(key, body, {.to = version});
  if (!migrated) {
    if (version.empty()) entry.runners->LogFailure(migrated.error());
    return Unexpected(std::move(migrated).error());
  }
  if (!migrated->changed) return std::nullopt;
  return std::move(migrated->document);
}

std::optional<std::string> KeyspacePolicy::Remembered(std::string_view key,
                                                      const DocumentView& document) const {
  const Entry* const entry = FindOf(key, &document);
  if (entry == nullptr || entry->migrated == nullptr) return std::nullopt;
  return entry->migrated->Find(key, document);
}

bool KeyspacePolicy::Persists(std::string_view key, const DocumentView& document) const {
  const Entry* const entry = FindOf(key, &document);
  return entry != nullptr && entry->type().on_read == ReadMigration::kPersist;
}

std::optional<std::string> KeyspacePolicy::Accessed(std::string_view key,
                                                    const DocumentView& document,
                                                    uint64_t now_ms) const {
  if (document.datatype != db::Datatype::kJson) return std::nullopt;
  const Entry* const entry = Find(key, document.body);
  return entry == nullptr ? std::nullopt : doctype::Touch(entry->type(), document.body, now_ms);
}

bool KeyspacePolicy::IsStamp(std::string_view field) const {
  return std::ranges::any_of(entries_, [&](const Entry& entry) {
    const doctype::Properties& properties = entry.type().properties;
    if (!properties.object.empty()) return properties.object == field;
    return std::ranges::find(properties.names, field) != std::end(properties.names);
  });
}

}  // namespace sluice::doctype_db
