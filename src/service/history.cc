#include "service/history.h"

#include <charconv>
#include <utility>

#include "doctype_db/keyspace_policy.h"
#include "json/parse.h"

namespace sluice::service {
namespace {

Status NoRevision(const Target& target, std::string_view version) {
  return Error(Code::kNotFound, "revision.not_found", "document '{}' has no revision '{}'",
               target.key, version);
}

Result<uint64_t> RevisionNumber(const Target& target, std::string_view text) {
  uint64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || end != text.data() + text.size() || version == 0) {
    return Unexpected(NoRevision(target, text));
  }
  return version;
}

}  // namespace

Result<std::vector<KeptRevision>> ListRevisions(db::Database& database, const Target& target) {
  ASSIGN_OR_RETURN(const auto revisions, database.revisions().List(target.keyspace, target.key));
  const auto policy = database.read_forms().PolicyOf(target.keyspace, nullptr);
  db::PinnedDocument present;
  ASSIGN_OR_RETURN(const bool found,
                   database.read_forms().GetStored(target.keyspace, target.key, &present));
  std::vector<KeptRevision> list;
  for (const db::Revision& revision : revisions) {
    db::PinnedDocument document;
    ASSIGN_OR_RETURN(const bool there, database.revisions().Get(target.keyspace, target.key,
                                                                revision.version, &document));
    if (!there) continue;  // trimmed since
    KeptRevision kept{.version = revision.version,
                      .replaced_ms = revision.made_ms,
                      .document = document->Copy(),
                      .key = std::nullopt};
    if (policy != nullptr) {
      kept.key = policy->RevisionKey(target.key, found ? &present.view() : nullptr, kept.version);
    }
    list.push_back(std::move(kept));
  }
  return list;
}

Result<db::Document> ReadVersion(db::Database& database, const Target& target,
                                 std::string_view text) {
  db::PinnedDocument document;
  if (text == kCurrentVersion) {
    ASSIGN_OR_RETURN(const bool found,
                     database.read_forms().GetStored(target.keyspace, target.key, &document));
    if (found) return document->Copy();
    return Fail(Code::kNotFound, "document.not_found", "there is no document '{}'", target.key);
  }
  ASSIGN_OR_RETURN(const uint64_t version, RevisionNumber(target, text));
  ASSIGN_OR_RETURN(const bool kept, database.revisions().Has(target.keyspace, target.key, version));
  if (!kept) return Unexpected(NoRevision(target, text));
  ASSIGN_OR_RETURN(const bool found,
                   database.revisions().Get(target.keyspace, target.key, version, &document));
  if (!found) return Unexpected(NoRevision(target, text));  // trimmed since
  return document->Copy();
}

Result<std::vector<doctype::DocumentChange>> CompareVersions(db::Database& database,
                                                             const Target& target,
                                                             std::string_view from,
                                                             std::string_view to) {
  ASSIGN_OR_RETURN(const db::Document before, ReadVersion(database, target, from));
  ASSIGN_OR_RETURN(const db::Document after, ReadVersion(database, target, to));
  ASSIGN_OR_RETURN(const json::Value before_value, json::Parse(before.body));
  ASSIGN_OR_RETURN(const json::Value after_value, json::Parse(after.body));
  return doctype::Diff(before_value, after_value);
}

Result<db::Write> RestoringWrite(db::Database& database, const Target& target,
                                 std::string_view version, db::Precondition condition) {
  ASSIGN_OR_RETURN(db::Document document, ReadVersion(database, target, version));
  document.cas = 0;
  document.expiry_ms = 0;
  const auto catalog = database.catalog();
  if (const auto* policy = dynamic_cast<const doctype_db::KeyspacePolicy*>(
          catalog->Find(target.keyspace)->policy.get())) {
    policy->SayVersion(target.key, &document);
  }
  return db::PutWrite(target.keyspace, std::string(target.key), std::move(document), condition);
}

}  // namespace sluice::service
