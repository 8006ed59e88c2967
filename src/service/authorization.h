// Who may do what: a principal, an action and what it is done to. Every interface asks here before
// it does something for a client.
#pragma once

#include <string>
#include <string_view>

#include "auth/roles.h"
#include "base/status.h"
#include "query/engine.h"

namespace sluice::service {

// auth.forbidden unless `who` has the permission on the bucket.
Status Require(const auth::Principal& who, auth::Permission permission, std::string_view bucket);

// Error 13014 unless `who` may learn from a statement that the keyspace exists.
Status MayKnow(const auth::Principal& who, const db::KeyspaceName& keyspace);

// Error 13014 unless `who` may run the statement.
Status AuthorizeStatement(const auth::Principal& who, const query::StatementPlan& plan);

// A user sees the own statements, an admin all.
bool MaySeeRequest(const auth::Principal& who, const std::string& user);

}  // namespace sluice::service
