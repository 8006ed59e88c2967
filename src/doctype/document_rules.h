// The whole of what a type does to a document that is written, deleted or read, in one call each.
// What has to be looked up (the present document, its revisions) comes in, what has to be written
// goes out; the caller puts all of it into one commit.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "doctype/loaded_type.h"
#include "doctype/migration_runner.h"
#include "doctype/revisions.h"

namespace sluice::doctype {

struct WriteInput {
  std::string_view key;
  std::string_view document;                // valid JSON, of this type (TypeSet::FindForWrite)
  std::optional<std::string_view> present;  // what it replaces
  std::span<const Revision> revisions;      // of the document; none for a type without
  std::string_view actor;                   // see StampInput
  std::string_view country;
  uint64_t now_ms = 0;
};

struct PreparedWrite {
  std::string document;    // to be stored
  uint64_t version = 0;    // see Stamped
  size_t steps = 0;        // of migrations that were run
  RevisionPlan revisions;  // the present document becomes revisions.write_key
  // Not OK when the document does not fit its schema and the type says warn (store it, and tell) or
  // quarantine (store it in the side keyspace instead, with this reason).
  Status violation;
};

// In this order: migrated to the current version, stamped, checked against schema and limits.
// `runner` is that of the type's migrations, null if it has none. Errors of MigrationRunner::Run,
// ApplyStamps, Schema::Check (validate: enforce) and CheckLimits.
Result<PreparedWrite> PrepareWrite(const LoadedType& type, const WriteInput& input,
                                   MigrationRunner* runner);

// The document as readers see it: at the version they ask for (empty: the current one), whatever is
// stored. A type that does not migrate on read gives it as it is, unless a version is asked for.
Result<Migrated> PrepareRead(const LoadedType& type, std::string_view key,
                             std::string_view document, std::string_view version,
                             MigrationRunner* runner);

}  // namespace sluice::doctype
