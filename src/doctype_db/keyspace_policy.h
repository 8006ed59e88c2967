// Applies the document types of one keyspace to its documents: the implementation of
// db::DocumentPolicy. Any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "db/document_policy.h"
#include "doctype/loaded_type.h"
#include "doctype/type_set.h"
#include "doctype_db/migrated_documents.h"
#include "doctype_db/runner_pool.h"

namespace sluice::doctype_db {

// The keyspace for documents that do not fit their schema: `quarantine` beside a `_default`
// collection, `orders_quarantine` beside `orders`.
db::KeyspaceName QuarantineOf(const db::KeyspaceName& keyspace);

class KeyspacePolicy final : public db::DocumentPolicy {
 public:
  using Types = std::vector<std::shared_ptr<const doctype::LoadedType>>;
  // The clock outlives it.
  KeyspacePolicy(const db::KeyspaceName& keyspace, const Types& types,
                 const doctype::ScriptLimits& limits, const Clock& clock);

  // Null if no type has that name.
  const doctype::LoadedType* FindType(std::string_view name) const;
  // The type that a stored document has, by name; empty if it has none.
  std::string TypeOf(std::string_view key, const db::DocumentView& document) const;

  // Adds the version to a stored document that has none. Without it, a client that writes the
  // document back would write it in the current version. Does nothing for a document that has a
  // version, or whose type has no versions.
  void SayVersion(std::string_view key, db::Document* document) const;

  // Makes the key of a new document from its properties and the pattern of its type. Nullopt if the
  // document names no type, or its type has no pattern. Error type.no_key.
  Result<std::optional<std::string>> NewKey(std::string_view body) const;

  bool RunsScripts() const override { return runs_scripts_; }
  Result<Prepared> Prepare(const WriteContext& context, const db::DocumentView& document,
                           const Replaced& replaced) const override;
  const db::KeyspaceName& quarantine() const override { return quarantine_; }
  Result<Settled> Settle(const WriteContext& context, std::string_view body,
                         const Replaced& replaced) const override;
  Settled SettleDelete(std::string_view key, const db::DocumentView& present,
                       uint64_t last_revision) const override;
  std::optional<RevisionName> RevisionOf(std::string_view key) const override;
  const db::RevisionLimits* LimitsOf(std::string_view key,
                                     const db::DocumentView* document) const override;
  std::string RevisionKey(std::string_view key, const db::DocumentView* document,
                          uint64_t version) const override;
  bool KeepsRevisions() const override { return keeps_revisions_; }
  const std::string& read_form() const override { return read_form_; }
  bool ReadsOtherwise(std::string_view key, const db::DocumentView& document) const override;
  Result<std::optional<std::string>> AsRead(std::string_view key, const db::DocumentView& document,
                                            std::string_view version) const override;
  std::optional<std::string> Remembered(std::string_view key,
                                        const db::DocumentView& document) const override;
  bool Persists(std::string_view key, const db::DocumentView& document) const override;
  bool NotesAccess() const override { return notes_access_; }
  std::optional<std::string> Accessed(std::string_view key, const db::DocumentView& document,
                                      uint64_t now_ms) const override;
  bool IsStamp(std::string_view field) const override;

 private:
  struct Entry {
    std::shared_ptr<const doctype::LoadedType> loaded;
    std::unique_ptr<RunnerPool> runners;          // null: the type has no migrations
    std::unique_ptr<MigratedDocuments> migrated;  // null: it has none in JavaScript
    db::RevisionLimits limits;

    const doctype::Type& type() const { return loaded->type(); }
  };

  const Entry& EntryOf(const doctype::Type& type) const;
  // Null for a document without a type.
  const Entry* Find(std::string_view key, std::string_view body) const;
  const Entry* FindOf(std::string_view key, const db::DocumentView* document) const;
  static Result<std::optional<std::string>> Migrate(const Entry& entry, std::string_view key,
                                                    std::string_view body,
                                                    std::string_view version);
  Settled SettleLeft(std::string_view key, const Replaced& replaced) const;
  static Result<Settled> SettleAs(const Entry& entry, const WriteContext& context,
                                  std::string_view body, const Replaced& replaced);
  static std::string UnversionedWrite(const Entry& entry, const Replaced& replaced);
  std::string StoredAsRead(std::string_view key, const Replaced& replaced) const;
  Status Upgrade(const Entry& entry, const WriteContext& context, std::string_view body,
                 const Replaced& replaced, Prepared* prepared) const;
  Status Validate(const Entry& entry, const WriteContext& context, std::string_view body,
                  Prepared* prepared) const;

  const db::KeyspaceName keyspace_;
  const db::KeyspaceName quarantine_;
  std::vector<Entry> entries_;
  const doctype::TypeSet set_;
  bool keeps_revisions_ = false;
  bool notes_access_ = false;
  bool runs_scripts_ = false;
  std::string read_form_;
};

}  // namespace sluice::doctype_db
