// Document types in the catalog: their rows, their policy, and the indexes that a change of the
// types replaces.
#include <algorithm>
#include <map>

#include "base/bytes.h"
#include "base/log.h"
#include "db/catalog_edit.h"
#include "db/catalog_rows.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::db {
namespace {

const std::string& ReadFormOf(const DocumentPolicy* policy) {
  static const std::string stored;
  return policy == nullptr ? stored : policy->read_form();
}

// The policy of stored types that can't be compiled. Documents are read as they are stored. Writes
// are refused, because they can't be checked; so are deletions, because the document's index rows
// and revisions are not known.
class UnusablePolicy final : public DocumentPolicy {
 public:
  UnusablePolicy(KeyspaceName keyspace, Status problem)
      : keyspace_(std::move(keyspace)), problem_(std::move(problem)) {}

  Status CheckUsable() const override {
    return Error(Code::kUnavailable, "type.unusable",
                 "the document types of {} can't be used, so nothing is written there: {}",
                 keyspace_.ToString(), problem_.message());
  }
  bool RunsScripts() const override { return false; }
  Result<Prepared> Prepare(const WriteContext&, const DocumentView&,
                           const Replaced&) const override {
    return Unexpected(CheckUsable());
  }
  const KeyspaceName& quarantine() const override { return keyspace_; }
  Result<Settled> Settle(const WriteContext&, std::string_view, const Replaced&) const override {
    return Settled{};
  }
  Settled SettleDelete(std::string_view, const DocumentView&, uint64_t) const override {
    return {};
  }
  std::optional<RevisionName> RevisionOf(std::string_view) const override { return std::nullopt; }
  const RevisionLimits* LimitsOf(std::string_view, const DocumentView*) const override {
    return nullptr;
  }
  std::string RevisionKey(std::string_view key, const DocumentView*, uint64_t) const override {
    return std::string(key);
  }
  bool KeepsRevisions() const override { return false; }
  const std::string& read_form() const override { return form_; }
  bool ReadsOtherwise(std::string_view, const DocumentView&) const override { return false; }
  Result<std::optional<std::string>> AsRead(std::string_view, const DocumentView&,
                                            std::string_view) const override {
    return std::nullopt;
  }
  std::optional<std::string> Remembered(std::string_view, const DocumentView&) const override {
    return std::nullopt;
  }
  bool Persists(std::string_view, const DocumentView&) const override { return false; }
  bool NotesAccess() const override { return false; }
  std::optional<std::string> Accessed(std::string_view, const DocumentView&,
                                      uint64_t) const override {
    return std::nullopt;
  }
  bool IsStamp(std::string_view) const override { return false; }

 private:
  const KeyspaceName keyspace_;
  const Status problem_;
  // Differs from all other forms, so that indexes are made anew when the types can be used again.
  const std::string form_ = "unusable";
};

// The version of the code that puts documents into their read form. It grows with each change of
// that code which changes the results (2: documents without a version have one). Index rows that
// were made under another version are made anew when the database is opened.
constexpr int64_t kReadRules = 2;

json::Value RowOf(KeyspaceId keyspace, const TypeDefinition& type) {
  auto definition = json::Parse(type.text);
  return json::Value::Object(
      {{"keyspace", keyspace},
       {"read_rules", kReadRules},
       {"definition", definition ? std::move(*definition) : json::Value::EmptyObject()}});
}

}  // namespace

Result<std::set<KeyspaceId>> CatalogEdit::OutdatedTypes(const storage::Store& store) {
  std::set<KeyspaceId> outdated;
  const auto rows = CatalogRows(store, TypeRowKey(""));
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    ASSIGN_OR_RETURN(const json::Value value, DecodeMetaJson(rows->key(), rows->value()));
    if (value["read_rules"] == json::Value(kReadRules)) continue;
    outdated.insert(static_cast<KeyspaceId>(value["keyspace"].AsInt()));
  }
  RETURN_IF_ERROR(rows->status());
  return outdated;
}

Result<std::vector<IndexId>> CatalogEdit::SetTypes(KeyspaceId id, std::vector<TypeDefinition> types,
                                                   std::shared_ptr<const DocumentPolicy> policy,
                                                   ReadRules rules) {
  const KeyspaceInfo* const info = next_->Find(id);
  if (info == nullptr) {
    return Fail(Code::kNotFound, "keyspace.not_found", "the keyspace does not exist (any more)");
  }
  std::ranges::sort(types, {}, &TypeDefinition::name);
  for (const TypeDefinition& old : info->types) {
    if (std::ranges::find(types, old.name, &TypeDefinition::name) == types.end()) {
      DeleteRow(TypeRowKey(old.name));
    }
  }
  for (const TypeDefinition& type : types) {
    PutRow(TypeRowKey(type.name), EncodeMetaJson(RowOf(id, type)));
  }
  KeyspaceInfo changed = *info;
  const bool other_form = (rules == ReadRules::kChanged && !ReadFormOf(policy.get()).empty()) ||
                          ReadFormOf(info->policy.get()) != ReadFormOf(policy.get());
  changed.types = std::move(types);
  changed.policy = std::move(policy);
  std::vector<IndexId> made;
  if (other_form) RemakeIndexes(&changed, &made);
  next_->keyspaces_[id] = std::make_shared<const KeyspaceInfo>(std::move(changed));
  return made;
}

// The old index rows of a document can be computed only in the form in which they were made. So
// after a change of the form, new indexes replace all indexes of the keyspace, and the old rows are
// deleted as a whole.
void CatalogEdit::RemakeIndexes(KeyspaceInfo* keyspace, std::vector<IndexId>* made) {
  for (std::shared_ptr<const Index>& index : keyspace->indexes) {
    if (!index->kept()) continue;
    const IndexId id = next_->next_index_;
    auto again =
        Index::Make(id, keyspace->id, index->definition(), Index::State::kBuilding, compiler_);
    if (!again) continue;  // it was made of the same definition before
    ++next_->next_index_;
    dropped_indexes_.push_back(index->id());
    DeleteRow(IndexRowKey(index->id()));
    PutRow(IndexRowKey(id), EncodeMetaJson(ToJson(*again), kIndexRowVersion));
    index = std::make_shared<const Index>(std::move(*again));
    made->push_back(id);
  }
  PutIds();
}

void CatalogEdit::CompilePolicy(const PolicyCompiler* compiler, KeyspaceInfo* keyspace) {
  keyspace->policy = nullptr;
  if (keyspace->types.empty()) return;
  Result<std::shared_ptr<const DocumentPolicy>> policy =
      compiler == nullptr ? Fail(Code::kUnsupported, "type.unsupported",
                                 "this server was started without document types")
                          : compiler->Compile(keyspace->name, keyspace->types);
  if (policy) {
    keyspace->policy = std::move(*policy);
    return;
  }
  log::Warn("the document types of a keyspace can't be used",
            {{"keyspace", keyspace->name.ToString()}, {"error", policy.error().ToString()}});
  keyspace->policy = std::make_shared<UnusablePolicy>(keyspace->name, policy.error());
}

}  // namespace sluice::db
