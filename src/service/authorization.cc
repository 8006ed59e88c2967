#include "service/authorization.h"

#include "query/error.h"

namespace sluice::service {
namespace {

Status Forbidden(const auth::Principal& who, auth::Permission permission, std::string_view bucket) {
  if (permission == auth::Permission::kAdmin) {
    return Error(Code::kForbidden, "auth.forbidden", "user '{}' is not an admin", who.user);
  }
  return Error(Code::kForbidden, "auth.forbidden", "user '{}' lacks the permission {} on bucket {}",
               who.user, auth::PermissionName(permission), bucket);
}

// Names a table as statements do. A user who sees neither tables nor buckets does not learn which
// of them a name belongs to.
Status Lacks(const auth::Principal& who, auth::Permission permission,
             const db::KeyspaceName& keyspace) {
  const bool is_table =
      keyspace.bucket == db::kTablesBucket && keyspace.collection != db::kDefaultName;
  return query::QueryError(
      query::QueryCode::kForbidden,
      "User does not have credentials: '{}' lacks the permission {} on bucket {}", who.user,
      auth::PermissionName(permission), is_table ? keyspace.collection : keyspace.bucket);
}

}  // namespace

Status Require(const auth::Principal& who, auth::Permission permission, std::string_view bucket) {
  if (who.Allows(permission, bucket)) return OkStatus();
  return Forbidden(who, permission, bucket);
}

bool MaySeeRequest(const auth::Principal& who, const std::string& user) {
  return user == who.user || who.Allows(auth::Permission::kAdmin, auth::kEveryBucket);
}

Status MayKnow(const auth::Principal& who, const db::KeyspaceName& keyspace) {
  for (const auth::Permission permission : {auth::Permission::kQuery, auth::Permission::kRead}) {
    if (!who.Allows(permission, keyspace.bucket)) return Lacks(who, permission, keyspace);
  }
  return OkStatus();
}

Status AuthorizeStatement(const auth::Principal& who, const query::StatementPlan& plan) {
  using auth::Permission;
  for (const auto* const keyspaces : {&plan.reads, &plan.writes}) {
    for (const db::KeyspaceName& keyspace : *keyspaces) RETURN_IF_ERROR(MayKnow(who, keyspace));
  }
  if (plan.administers && !who.Allows(Permission::kAdmin, auth::kEveryBucket)) {
    return query::QueryError(query::QueryCode::kForbidden,
                             "User does not have credentials: '{}' is not an admin, and only "
                             "admins change the catalog",
                             who.user);
  }
  for (const db::KeyspaceName& keyspace : plan.writes) {
    if (!who.Allows(Permission::kWrite, keyspace.bucket)) {
      return Lacks(who, Permission::kWrite, keyspace);
    }
  }
  // Without a keyspace: whoever may query something.
  for (const auth::Grant& grant : who.grants) {
    if (who.Allows(Permission::kQuery, grant.bucket)) return OkStatus();
  }
  return Lacks(who, Permission::kQuery, {.bucket = std::string(auth::kEveryBucket)});
}

}  // namespace sluice::service
