#include "function/confinement.h"

#include <algorithm>

namespace sluice::function {
namespace {

bool Binds(const Definition& definition, const std::string& bucket, bool writable) {
  if (!writable && bucket == definition.source.bucket) return true;
  return std::ranges::any_of(definition.buckets, [&](const BucketBinding& binding) {
    return binding.keyspace.bucket == bucket && (binding.writable || !writable);
  });
}

Status MayNotRead(const db::KeyspaceName& keyspace) {
  return Error(Code::kForbidden, "function.confined",
               "this function may not read bucket '{}': it has no binding there", keyspace.bucket);
}

// The user who stored a confined function has rights to its bindings, which were checked then. Its
// statements may use nothing else.
Status CheckFunctionStatement(const Definition& definition, const query::StatementPlan& plan) {
  if (!definition.confined) return OkStatus();
  if (plan.administers) {
    return Error(Code::kForbidden, "function.confined", "this function may not change the catalog");
  }
  for (const db::KeyspaceName& keyspace : plan.writes) {
    if (!Binds(definition, keyspace.bucket, true)) {
      return Error(Code::kForbidden, "function.confined",
                   "this function may not write to bucket '{}': it has no writable binding there",
                   keyspace.bucket);
    }
  }
  for (const db::KeyspaceName& keyspace : plan.reads) {
    if (!Binds(definition, keyspace.bucket, false)) return MayNotRead(keyspace);
  }
  return OkStatus();
}

}  // namespace

Status CheckConfined(const Definition& definition, const query::StatementPlan& plan) {
  if (definition.is_task()) return CheckTaskStatement(definition.name, definition.buckets, plan);
  return CheckFunctionStatement(definition, plan);
}

Status CheckConfined(const Definition& definition, const db::KeyspaceName& keyspace) {
  if (definition.is_task() || !definition.confined) return OkStatus();
  return Binds(definition, keyspace.bucket, false) ? OkStatus() : MayNotRead(keyspace);
}

Status CheckTaskStatement(const std::string& route, const std::vector<BucketBinding>& keyspaces,
                          const query::StatementPlan& plan) {
  if (keyspaces.empty()) return OkStatus();
  if (plan.administers) {
    return Error(Code::kForbidden, "route.confined",
                 "route '{}' may not change the catalog: it is confined to its keyspaces in "
                 "sluice.yaml",
                 route);
  }
  const auto has = [&](const db::KeyspaceName& keyspace, bool writable) {
    return std::ranges::any_of(keyspaces, [&](const BucketBinding& binding) {
      return binding.keyspace.Overlaps(keyspace) && (binding.writable || !writable);
    });
  };
  for (const db::KeyspaceName& keyspace : plan.writes) {
    if (has(keyspace, true)) continue;
    return Error(Code::kForbidden, "route.confined",
                 "route '{}' may not write to keyspace '{}': its keyspaces in sluice.yaml {}",
                 route, keyspace.ToString(),
                 has(keyspace, false) ? "give it access r" : "do not name it");
  }
  for (const db::KeyspaceName& keyspace : plan.reads) {
    if (has(keyspace, false)) continue;
    return Error(Code::kForbidden, "route.confined",
                 "route '{}' may not read keyspace '{}': its keyspaces in sluice.yaml do not name "
                 "it",
                 route, keyspace.ToString());
  }
  return OkStatus();
}

}  // namespace sluice::function
