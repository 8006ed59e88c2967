// Roles in JSON, for the user and token resources.
#pragma once

#include <optional>

#include "auth/roles.h"
#include "base/status.h"
#include "json/value.h"

namespace sluice::rest {

// ["admin","reader:shop"]
json::Value RolesView(const auth::Grants& grants);
// The field `roles` of a body; nothing when it is not there.
Result<std::optional<auth::Grants>> RolesField(const json::Value& body);

}  // namespace sluice::rest
