// The earlier versions of a document that its type keeps. These functions block.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/commit.h"
#include "db/database.h"
#include "db/document.h"
#include "doctype/document_diff.h"
#include "service/documents.h"

namespace sluice::service {

// A text that stands for a version: the number of a revision, or this, which is the document itself
// as it is stored.
inline constexpr std::string_view kCurrentVersion = "current";

struct KeptRevision {
  uint64_t version = 0;
  uint64_t replaced_ms = 0;  // when a later version replaced it
  db::Document document;
  std::optional<std::string> key;  // of the revision, when the keyspace has a type
};

// Oldest first.
Result<std::vector<KeptRevision>> ListRevisions(db::Database& database, const Target& target);

// revision.not_found, document.not_found.
Result<db::Document> ReadVersion(db::Database& database, const Target& target,
                                 std::string_view version);

Result<std::vector<doctype::DocumentChange>> CompareVersions(db::Database& database,
                                                             const Target& target,
                                                             std::string_view from,
                                                             std::string_view to);

// The write that makes the content of a version the document's again. It is written as any other
// document is: it gets a new version and stamps, and the replaced document becomes a revision.
Result<db::Write> RestoringWrite(db::Database& database, const Target& target,
                                 std::string_view version, db::Precondition condition);

}  // namespace sluice::service
