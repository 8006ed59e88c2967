#include "doctype/revisions.h"

#include <algorithm>

#include "doctype/document_text.h"

namespace sluice::doctype {
namespace {

void Remove(const Revisions& policy, std::string_view key, uint64_t version, RevisionPlan* plan) {
  plan->remove.push_back(version);
  plan->remove_keys.push_back(policy.key.Make(key, version));
}

// Removes what is too old or too many beside `added` new ones.
void Trim(const Revisions& policy, std::string_view key, std::span<const Revision> existing,
          size_t added, uint64_t now_ms, RevisionPlan* plan) {
  std::vector<Revision> sorted(existing.begin(), existing.end());
  std::ranges::sort(sorted, {}, &Revision::version);
  const size_t total = sorted.size() + added;
  const size_t too_many = policy.keep > 0 && total > policy.keep ? total - policy.keep : 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const bool too_old = policy.max_age_ms > 0 && now_ms > policy.max_age_ms &&
                         sorted[i].made_ms < now_ms - policy.max_age_ms;
    if (i < too_many || too_old) Remove(policy, key, sorted[i].version, plan);
  }
}

}  // namespace

uint64_t LastRevision(std::span<const Revision> existing) {
  uint64_t last = 0;
  for (const Revision& revision : existing) last = std::max(last, revision.version);
  return last;
}

RevisionPlan PlanUpdate(const Type& type, std::string_view key, uint64_t previous_version,
                        std::span<const Revision> existing, uint64_t now_ms) {
  RevisionPlan plan;
  if (!type.revisions) return plan;
  if (previous_version > 0) {
    plan.write = previous_version;
    plan.write_key = type.revisions->key.Make(key, previous_version);
  }
  Trim(*type.revisions, key, existing, previous_version > 0 ? 1 : 0, now_ms, &plan);
  return plan;
}

RevisionPlan PlanDelete(const Type& type, std::string_view key, std::string_view present,
                        std::span<const Revision> existing, uint64_t now_ms) {
  RevisionPlan plan;
  if (!type.revisions) return plan;
  if (type.revisions->on_delete == Revisions::OnDelete::kKeep) {
    const auto spans = StampSpans::Find(present, type.properties);
    const uint64_t had = spans ? spans->Count(Stamp::kVersion) : 0;
    const uint64_t version = std::max(had, LastRevision(existing) + 1);
    return PlanUpdate(type, key, version, existing, now_ms);
  }
  std::vector<Revision> sorted(existing.begin(), existing.end());
  std::ranges::sort(sorted, {}, &Revision::version);
  for (const Revision& revision : sorted) Remove(*type.revisions, key, revision.version, &plan);
  return plan;
}

RevisionPlan PlanTrim(const Type& type, std::string_view key, std::span<const Revision> existing,
                      uint64_t now_ms) {
  RevisionPlan plan;
  if (type.revisions) Trim(*type.revisions, key, existing, 0, now_ms, &plan);
  return plan;
}

}  // namespace sluice::doctype
