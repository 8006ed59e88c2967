#include "auth/roles.h"

#include <algorithm>
#include <array>
#include <utility>

#include "db/types.h"

namespace sluice::auth {
namespace {

constexpr std::array<std::pair<std::string_view, Role>, 6> kRoles = {{
    {"admin", Role::kAdmin},
    {"reader", Role::kReader},
    {"writer", Role::kWriter},
    {"function_manager", Role::kFunctionManager},
    {"query", Role::kQuery},
    {"metrics", Role::kMetrics},
}};

// Of the whole server, not of a bucket.
bool IsGlobal(Role role) { return role == Role::kAdmin || role == Role::kMetrics; }

bool RoleAllows(Role role, Permission permission) {
  if (permission == Permission::kNone) return true;
  if (permission == Permission::kMonitor) return role != Role::kQuery;
  switch (role) {
    case Role::kAdmin:
      return true;
    case Role::kReader:
      return permission == Permission::kRead;
    case Role::kWriter:
      return permission == Permission::kRead || permission == Permission::kWrite;
    case Role::kFunctionManager:
      return permission == Permission::kManageFunctions || permission == Permission::kRead;
    case Role::kQuery:
      return permission == Permission::kQuery;
    case Role::kMetrics:
      return false;
  }
  return false;
}

std::unexpected<Status> BadRole(std::string_view text) {
  return Fail(
      Code::kInvalidArgument, "auth.bad_role",
      "expected admin or metrics, or reader, writer, function_manager or query with a bucket "
      "(reader:shop, writer:*), found '{}'",
      text);
}

}  // namespace

std::string_view PermissionName(Permission permission) {
  switch (permission) {
    case Permission::kNone:
      return "none";
    case Permission::kRead:
      return "read";
    case Permission::kWrite:
      return "write";
    case Permission::kManageFunctions:
      return "manage_functions";
    case Permission::kQuery:
      return "query";
    case Permission::kMonitor:
      return "monitor";
    case Permission::kAdmin:
      return "admin";
  }
  return "none";
}

std::string_view RoleName(Role role) {
  for (const auto& [name, known] : kRoles) {
    if (known == role) return name;
  }
  return "";
}

Result<Grant> Grant::Parse(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto found = std::find_if(kRoles.begin(), kRoles.end(),
                                  [&](const auto& role) { return role.first == name; });
  if (found == kRoles.end()) return BadRole(text);
  const bool has_bucket = colon != std::string_view::npos;
  if (has_bucket == IsGlobal(found->second)) return BadRole(text);
  if (!has_bucket) return Grant{found->second, std::string(kEveryBucket)};
  Grant grant{found->second, std::string(text.substr(colon + 1))};
  if (grant.bucket != kEveryBucket) RETURN_IF_ERROR(db::CheckName("bucket", grant.bucket));
  return grant;
}

std::string Grant::ToString() const {
  if (IsGlobal(role)) return std::string(RoleName(role));
  return std::string(RoleName(role)) + ":" + bucket;
}

bool Allows(const Grants& grants, Permission permission, std::string_view bucket) {
  if (permission == Permission::kNone) return true;
  return std::any_of(grants.begin(), grants.end(), [&](const Grant& grant) {
    if (!RoleAllows(grant.role, permission)) return false;
    return grant.role == Role::kAdmin || grant.bucket == kEveryBucket || grant.bucket == bucket;
  });
}

bool Covers(const Grants& grants, const Grant& wanted) {
  if (wanted.role == Role::kAdmin) return Allows(grants, Permission::kAdmin, kEveryBucket);
  for (const Permission permission :
       {Permission::kRead, Permission::kWrite, Permission::kManageFunctions, Permission::kQuery,
        Permission::kMonitor}) {
    if (RoleAllows(wanted.role, permission) && !Allows(grants, permission, wanted.bucket)) {
      return false;
    }
  }
  return true;
}

}  // namespace sluice::auth
