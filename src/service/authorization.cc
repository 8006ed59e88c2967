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

}  // namespace

Status Require(const auth::Principal& who, auth::Permission permission, std::string_view bucket) {
  if (who.Allows(permission, bucket)) return OkStatus();
  return Forbidden(who, permission, bucket);
}

bool MaySeeRequest(const auth::Principal& who, const std::string& user) {
  return user == who.user || who.Allows(auth::Permission::kAdmin, auth::kEveryBucket);
}

Status AuthorizeStatement(const auth::Principal& who, const query::StatementPlan& plan) {
  using auth::Permission;
  const auto require = [&](Permission permission, const std::string& bucket) {
    if (who.Allows(permission, bucket)) return OkStatus();
    return query::QueryError(query::QueryCode::kForbidden,
                             "User does not have credentials: '{}' lacks the permission {} on "
                             "bucket {}",
                             who.user, auth::PermissionName(permission), bucket);
  };
  if (plan.administers && !who.Allows(Permission::kAdmin, auth::kEveryBucket)) {
    return query::QueryError(query::QueryCode::kForbidden,
                             "User does not have credentials: '{}' is not an admin, and only "
                             "admins change the catalog",
                             who.user);
  }
  for (const db::KeyspaceName& keyspace : plan.reads) {
    RETURN_IF_ERROR(require(Permission::kQuery, keyspace.bucket));
    RETURN_IF_ERROR(require(Permission::kRead, keyspace.bucket));
  }
  for (const db::KeyspaceName& keyspace : plan.writes) {
    RETURN_IF_ERROR(require(Permission::kQuery, keyspace.bucket));
    RETURN_IF_ERROR(require(Permission::kWrite, keyspace.bucket));
  }
  // Without a keyspace: whoever may query something.
  for (const auth::Grant& grant : who.grants) {
    if (who.Allows(Permission::kQuery, grant.bucket)) return OkStatus();
  }
  return require(Permission::kQuery, "*");
}

}  // namespace sluice::service
