// Which revisions are written and removed in the commit that changes a document. After each one the
// policy holds: at most `keep` revisions, none older than `max_age`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "doctype/type.h"

namespace sluice::doctype {

struct Revision {
  uint64_t version = 0;
  uint64_t made_ms = 0;  // when it was written, that is, replaced by its successor
};

struct RevisionPlan {
  std::optional<uint64_t> write;  // the version that the present document becomes
  std::string write_key;          // for it
  std::vector<uint64_t> remove;   // versions, ascending
  std::vector<std::string> remove_keys;
};

// The document at `key` is replaced. `previous_version` is Stamped::previous_version, or 0 if there
// was no document; `existing` are its revisions, in any order. Nothing to do for a type without
// revisions.
RevisionPlan PlanUpdate(const Type& type, std::string_view key, uint64_t previous_version,
                        std::span<const Revision> existing, uint64_t now_ms);

// It is deleted (or expires): kept as one more revision, or all of them purged. `present` is its
// text.
RevisionPlan PlanDelete(const Type& type, std::string_view key, std::string_view present,
                        std::span<const Revision> existing, uint64_t now_ms);

// Nothing changes but the time or the policy: what no longer is to be kept.
RevisionPlan PlanTrim(const Type& type, std::string_view key, std::span<const Revision> existing,
                      uint64_t now_ms);

// 0 if there are none.
uint64_t LastRevision(std::span<const Revision> existing);

}  // namespace sluice::doctype
